import { fenced, fenceFor, inlineCode } from '../backlog/markdown/fence.ts'
import { REASONS, type FileListing, type Material, type NamedFile, type ShownMaterial } from './files.ts'
import { countTokens, countUpTo, fairShares, firstLines, type Cut } from './tokens.ts'

/** The most tokens for included files: in all, and for each. */
export interface PromptLimits {
  readonly budget: number
  readonly fileCap: number
}

/** A shorter part of a file is useless: the file is named instead. */
const LEAST = 120

/** If there are more names, the rest are only counted. */
const MOST_NAMES = 200

/** The text for a material or a group of them, and its estimated tokens. */
export interface Shown {
  readonly text: string
  readonly tokens: number
}

/**
 * Writes each group of materials as Markdown, within one budget for all: files that are named share it fairly, then
 * files from folders and globs follow as a whole while the budget lasts.
 */
export function showMaterials<Group extends string>(
  groups: Readonly<Record<Group, readonly Material[]>>,
  limits: PromptLimits,
): Readonly<Record<Group, Shown>> {
  const names = Object.keys(groups) as Group[]
  const shown = names.flatMap((name) => groups[name].filter((material) => material.kind === 'shown'))
  const blocks = withinBudget(shown, limits)
  const texts = names.map((name) => [name, showGroup(groups[name], blocks)] as const)
  return Object.fromEntries(texts) as Record<Group, Shown>
}

type Blocks = ReadonlyMap<Material, Shown>

/** Counting takes most of the time, so each text is counted once. */
function withinBudget(shown: readonly ShownMaterial[], { budget, fileCap }: PromptLimits): Blocks {
  const blocks = new Map<Material, Shown>()
  let left = budget
  const put = (material: ShownMaterial, block: Shown | null): void => {
    if (block === null) return
    blocks.set(material, block)
    left -= block.tokens
  }
  const named = shown.filter((material) => !material.listed)
  const wants = named.map((material) => tokensOf(material, fileCap))
  const shares = fairShares(wants, budget, LEAST)
  for (const [index, material] of named.entries()) {
    const [want, share] = [wants[index]!, shares[index]!]
    put(material, want <= share && want < fileCap ? whole(material, want) : beginning(material, share))
  }
  for (const material of shown.filter((material) => material.listed)) {
    const tokens = tokensOf(material, fileCap)
    if (tokens <= left && tokens < fileCap) put(material, whole(material, tokens))
  }
  return blocks
}

/** The most tokens for line ends: between blocks, and between label, fences and content. */
const SEAMS = 5

/** The tokens of the whole material in its fence, at most the limit. */
function tokensOf(material: ShownMaterial, limit: number): number {
  const content = countUpTo(material.text, limit)
  if (content >= limit) return limit
  const fence = fenceFor(material.text) + language(material.path)
  return Math.min(limit, content + countTokens(label(material)) + 2 * countTokens(fence) + SEAMS + 1)
}

function whole(material: ShownMaterial, tokens: number): Shown {
  return { text: `${label(material)}:\n${fenced(material.text, language(material.path))}`, tokens }
}

/** As much of the material's beginning as the share allows; null if that is too little. */
function beginning(material: ShownMaterial, share: number): Shown | null {
  for (let room = share - LEAST / 3; room > 0;) {
    const cut = firstLines(material.text, Math.floor(room))
    if (cut.text === '') return null
    const text = cutBlock(material, cut)
    const tokens = countTokens(text) + SEAMS
    if (tokens <= share) return { text, tokens }
    room -= Math.max(tokens - share, room / 8)
  }
  return null
}

function cutBlock(material: ShownMaterial, cut: Cut): string {
  const shown = cut.lines === 0 ? `within line 1 of ${cut.of}` : `after line ${cut.lines} of ${cut.of}`
  const note = `Cut ${shown}: read the rest in ${inlineCode(material.path)} (${material.bytes} bytes) where you need it.`
  return `${label(material)}, its beginning:\n${fenced(cut.text, language(material.path))}\n${note}`
}

function label({ path, stretch, bytes }: ShownMaterial): string {
  return `Content of ${inlineCode(path)}${stretch === null ? ` (${bytes} bytes)` : `, ${inlineCode(stretch)}`}`
}

/** The file name's ending for the fence, if it is a plain word. */
function language(path: string): string {
  return /\.([a-z0-9]{1,12})$/i.exec(path)?.[1]?.toLowerCase() ?? ''
}

function showGroup(materials: readonly Material[], blocks: Blocks): Shown {
  const shown = materials.flatMap((material) => blocks.get(material) ?? [])
  const lines = materials.flatMap((material) => nameLine(material, blocks))
  const rest = lines.length - MOST_NAMES
  const list = (rest > 0 ? [...lines.slice(0, MOST_NAMES), `- and ${rest} more`] : lines).join('\n')
  return {
    text: [...shown.map(({ text }) => text), ...(list === '' ? [] : [list])].join('\n\n'),
    tokens: shown.reduce((sum, { tokens }) => sum + tokens, countTokens(list)),
  }
}

function nameLine(material: Material, blocks: Blocks): readonly string[] {
  switch (material.kind) {
    case 'named':
      return [namedLine(material)]
    case 'listing':
      return [listingLine(material)]
    case 'shown':
      return material.listed || blocks.has(material) ? [] : [unshownLine(material)]
  }
}

function namedLine({ path, reason, bytes }: NamedFile): string {
  return `- ${inlineCode(path)}${bytes === null ? '' : ` (${bytes} bytes)`} ${REASONS[reason]}.`
}

function unshownLine({ path, stretch, bytes }: ShownMaterial): string {
  const part = stretch === null ? '' : `, ${inlineCode(stretch)},`
  return `- ${inlineCode(path)}${part} (${bytes} bytes) did not fit here: read it where you need it.`
}

function listingLine({ pattern, paths, more }: FileListing): string {
  if (paths.length === 0) return `- ${inlineCode(pattern)} stands for no file yet.`
  const names = paths.slice(0, MOST_NAMES).map(inlineCode).join(', ')
  const hidden = paths.length - MOST_NAMES
  const rest = more ? ', and more' : hidden > 0 ? `, and ${hidden} more` : ''
  return `- ${inlineCode(pattern)} stands for ${names}${rest}.`
}
