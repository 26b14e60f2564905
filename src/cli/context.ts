import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { UserError } from '../base/errors.ts'
import { withParts } from '../base/parts.ts'
import { layOut, type Canvas } from '../screen/layout.ts'
import { printableJson } from '../screen/printable.ts'
import { wantsAscii, wantsColour } from '../screen/style.ts'
import type { Block } from '../screen/block.ts'
import type { CommandCall } from './arguments.ts'
import type { Context } from './command.ts'
import type { Io, Outlet } from './io.ts'

/** Makes the context of a call: the outside world, the options, and the ways to print. */
export function createContext(world: Io, { args, options }: CommandCall): Context {
  const root = options.root
  const io = root === undefined ? world : withParts(world, { cwd: folderAt(world.cwd, root) })
  const canvas = (outlet: Outlet): Canvas => canvasFor(outlet, io.env, options.noColor)
  const draw = async (outlet: Outlet, blocks: readonly Block[]): Promise<void> => {
    outlet.write(layOut(blocks, canvas(outlet)))
  }
  return {
    io,
    where: { cwd: io.cwd, dir: options.dir },
    args,
    options,
    json: options.json,
    print: (blocks) => draw(io.stdout, blocks),
    note: (blocks) => draw(io.stderr, blocks),
    printJson: (document) => io.stdout.write(jsonText(document)),
    printRaw: (text) => io.stdout.write(text),
  }
}

/** A document as JSON; its lists may be of any iterable. */
function jsonText(document: object): string {
  const entries = Object.entries(document).map(([key, value]: [string, unknown]) => {
    const isList = typeof value === 'object' && value !== null && Symbol.iterator in value
    return [key, isList ? [...(value as Iterable<unknown>)] : value]
  })
  return `${printableJson(JSON.stringify(Object.fromEntries(entries), null, 2))}\n`
}

/** A missing folder would lead to a project above it. */
function folderAt(cwd: string, path: string): string {
  const folder = resolve(cwd, path)
  if (isFolder(folder)) return folder
  throw new UserError(`there is no folder ${path}`, 'Name with -C a folder of the project to work on.')
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** How to draw on an outlet. */
export function canvasFor(outlet: Outlet, env: Io['env'], noColor: boolean): Canvas {
  return {
    columns: outlet.columns,
    colour: wantsColour({ noColor, env, isTerminal: outlet.columns !== null }),
    ascii: wantsAscii(env),
  }
}
