import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UserError } from '../../base/errors.ts'

/** Needed only for workers on several machines, so not installed with ralph: the versions that ralph is tested with. */
const INSTALL = 'npm install pg-boss@12.35'
const INSTALL_EMBEDDED = `${INSTALL} @electric-sql/pglite@0.5 @electric-sql/pglite-socket@0.2`

/** Loads a package that is installed only if needed: beside ralph itself, or in one of these folders. */
export async function loadOptional<Module>(name: string, roots: readonly string[]): Promise<Module> {
  for (const root of roots) {
    const path = resolveFrom(root, name)
    if (path !== null) return import(pathToFileURL(path).href)
  }
  throw new UserError(
    `--queue needs the package ${name}, which is not installed`,
    `Install it where ralph is, or in this project: ${name === 'pg-boss' ? INSTALL : INSTALL_EMBEDDED}`,
  )
}

function resolveFrom(root: string, name: string): string | null {
  try {
    return createRequire(join(root, 'package.json')).resolve(name)
  } catch {
    return null
  }
}
