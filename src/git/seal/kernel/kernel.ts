export { searchSha1 } from './sha1'
export { searchSha256 } from './sha256'
