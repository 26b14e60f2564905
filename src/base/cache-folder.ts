import { isAbsolute, join } from 'node:path'

/** The user's folder for ralph's caches; null if the environment does not name one. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string | null {
  const named = env['XDG_CACHE_HOME']
  if (named !== undefined && isAbsolute(named)) return join(named, 'ralph')
  const home = env['HOME'] ?? env['USERPROFILE']
  return home !== undefined && isAbsolute(home) ? join(home, '.cache', 'ralph') : null
}
