import { closest } from '../base/spelling.ts'
import { placeAt } from '../base/diagnostic.ts'
import { DONE_MARKER } from '../base/names.ts'
import { UserError } from '../base/errors.ts'

/** The parts of a prompt in their order; each name is a slot of a team's template. */
export const PART_NAMES = [
  'persona',
  'skills',
  'conventions',
  'rules',
  'feature',
  'knowledge',
  'prd',
  'files',
  'milestone',
  'task',
  'acceptance',
  'produces',
  'hints',
  'comments',
  'attempts',
  'prerequisites',
  'instructions',
] as const
export type PartName = (typeof PART_NAMES)[number]

/** The text of each part; an empty part is left out. */
export type PartTexts = Readonly<Record<PartName, string>>

/** A prompt as it is sent, with its parts. */
export interface Prompt {
  readonly text: string
  /** The parts in the text, in order. */
  readonly parts: readonly PromptPart[]
  /** Tokens, estimated. */
  readonly estimate: number
}

/** One part with its size; `template` is the text of a team's template itself. */
export interface PromptPart {
  readonly name: PartName | 'template'
  readonly text: string
  readonly tokens: number
  readonly bytes: number
}

/** A part of a prompt under its heading, perhaps after a sentence about it; empty without a text. */
export function part(heading: string, text: string, lead = ''): string {
  return text === '' ? '' : [`# ${heading}`, ...(lead === '' ? [] : [lead]), text].join('\n\n')
}

/** A prompt's shape: lines of text with `{{slots}}` between them. */
export interface Template<Slot extends string = PartName> {
  readonly lines: readonly TemplateLine<Slot>[]
}
type TemplateLine<Slot> = readonly TemplatePiece<Slot>[]
type TemplatePiece<Slot> = { readonly text: string } | { readonly slot: Slot }

/** A rendered template: the text, the slots that were not empty, and the template's own text. */
interface Rendered<Slot> {
  readonly text: string
  readonly slots: readonly Slot[]
  readonly own: string
}

/** Reads the template of a task's prompt. An unknown slot, or a missing one that it needs, is a UserError. */
export function parseTemplate(source: string, file: string): Template {
  const template = readTemplate(source, file, {
    names: PART_NAMES,
    needed: { task: 'Put it where the task should stand.' },
  })
  if (hasSlot(template, 'instructions') || source.includes(DONE_MARKER)) return template
  throw new UserError(
    `${file}:1:1: the template tells the agent no way to end`,
    `Put {{instructions}} at its end, or say there that ${DONE_MARKER} on a line of its own means done.`,
  )
}

/** Reads a template with these slots, and with a hint for each that it needs; `\{{` is a literal `{{`. */
export function readTemplate<Slot extends string>(
  source: string,
  file: string,
  { names, needed }: { names: readonly Slot[]; needed: Readonly<Record<string, string>> },
): Template<Slot> {
  let offset = 0
  const lines = (source.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => {
    const pieces = parseLine(line, names, (slot, at) =>
      unknownSlot(slot, names, place(source, file, offset + at)),
    )
    offset += line.length
    return pieces
  })
  for (const [slot, hint] of Object.entries(needed))
    if (!hasSlot({ lines }, slot)) throw new UserError(`${file}:1:1: the template has no {{${slot}}}`, hint)
  return { lines }
}

function hasSlot({ lines }: Template<string>, slot: string): boolean {
  return lines.flat().some((piece) => 'slot' in piece && piece.slot === slot)
}

/** All parts in their order, with blank lines between them. */
export const DEFAULT_TEMPLATE: Template = {
  lines: PART_NAMES.flatMap((slot) => [[{ slot }, { text: '\n' }], [{ text: '\n' }]]),
}

/** Fills the slots. A line with only empty slots is removed, with the blank lines after it. Slots in the values are not filled. */
export function renderTemplate<Slot extends string>(
  { lines }: Template<Slot>,
  texts: Readonly<Record<Slot, string>>,
): Rendered<Slot> {
  const slots: Slot[] = []
  let [text, own, skipsBlank] = ['', '', true]
  for (const line of lines) {
    const ownText = line.map((piece) => ('text' in piece ? piece.text : '')).join('')
    const filled = line.flatMap((piece) => ('slot' in piece && texts[piece.slot] !== '' ? [piece.slot] : []))
    const isBlank = ownText.trim() === '' && filled.length === 0
    if (isBlank && (skipsBlank || line.some((piece) => 'slot' in piece))) {
      skipsBlank = true
      continue
    }
    skipsBlank = false
    text += line.map((piece) => ('slot' in piece ? texts[piece.slot] : piece.text)).join('')
    own += ownText
    slots.push(...filled)
  }
  return { text: `${text.trimEnd()}\n`, slots, own: own.trim() === '' ? '' : own }
}

function parseLine<Slot extends string>(
  line: string,
  names: readonly Slot[],
  refuse: (slot: string, at: number) => never,
): TemplateLine<Slot> {
  const pieces: TemplatePiece<Slot>[] = []
  let from = 0
  for (const match of line.matchAll(/\\\{\{|\{\{([^{}]*)\}\}/g)) {
    pieces.push({ text: line.slice(from, match.index) })
    from = match.index + match[0].length
    const name = match[1]?.trim()
    const slot = names.find((part) => part === name)
    if (slot) pieces.push({ slot })
    else pieces.push({ text: name === undefined ? '{{' : refuse(name, match.index) })
  }
  return [...pieces, { text: line.slice(from) }]
}

function unknownSlot(slot: string, names: readonly string[], where: string): never {
  const near = closest(slot, names)
  const known = names.map((name) => `{{${name}}}`).join(', ')
  throw new UserError(
    `${where}: there is no slot {{${slot}}}`,
    near ? `Did you mean {{${near}}}?` : `The slots are ${known}; write \\{{ for two braces.`,
  )
}

function place(source: string, file: string, offset: number): string {
  const { line, column } = placeAt(source, offset)
  return `${file}:${line}:${column}`
}
