import { isAbsolute, join } from 'node:path'

/** Where ralph keeps for a person what can be made again; null where the environment says nothing of it. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string | null {
  const named = env['XDG_CACHE_HOME']
  if (named !== undefined && isAbsolute(named)) return join(named, 'ralph')
  const home = env['HOME'] ?? env['USERPROFILE']
  return home !== undefined && isAbsolute(home) ? join(home, '.cache', 'ralph') : null
}
