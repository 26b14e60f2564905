import { fairShares } from './budget.ts'
import { fenced, inlineCode } from './fence.ts'
import { REASONS, type Listing, type Material, type Named, type Shown } from './material.ts'
import { countTokens, countUpTo, cutEnd } from './tokens.ts'

/** How much of included files a prompt may hold, in tokens: all of them together, and each. */
export interface PromptLimits {
  readonly budget: number
  readonly fileCap: number
}

/** Below this a piece of a file helps nobody: it is named instead. */
const LEAST = 120

/** More names than these are counted, not written. */
const MOST_NAMES = 200

/**
 * Each group of materials as Markdown, within one budget for all groups: those that were asked for by name share it
 * fairly, then what folders and globs stand for comes in whole files while the budget lasts.
 */
export function showMaterials<Group extends string>(
  groups: Readonly<Record<Group, readonly Material[]>>,
  limits: PromptLimits,
): Readonly<Record<Group, string>> {
  const names = Object.keys(groups) as Group[]
  const shown = names.flatMap((name) => groups[name].filter((material) => material.kind === 'shown'))
  const blocks = withinBudget(shown, limits)
  const texts = names.map((name) => [name, groupText(groups[name], blocks)] as const)
  return Object.fromEntries(texts) as Record<Group, string>
}

type Blocks = ReadonlyMap<Material, string>

function withinBudget(shown: readonly Shown[], { budget, fileCap }: PromptLimits): Blocks {
  const blocks = new Map<Material, string>()
  let left = budget
  const put = (material: Shown, block: string | null): void => {
    if (block === null) return
    blocks.set(material, block)
    left -= countTokens(block) + SEPARATOR_TOKENS
  }
  const named = shown.filter((material) => !material.listed)
  const wants = named.map((material) => wanted(material, fileCap))
  const shares = fairShares(wants, budget, LEAST)
  for (const [index, material] of named.entries()) put(material, blockWithin(material, shares[index]!))
  for (const material of shown.filter((material) => material.listed)) {
    if (wanted(material, fileCap) <= Math.min(left, fileCap - 1)) put(material, blockWithin(material, left))
  }
  return blocks
}

/** The blank line between two blocks. */
const SEPARATOR_TOKENS = 1

function wanted(material: Shown, cap: number): number {
  if (countUpTo(material.text, cap) >= cap) return cap
  return Math.min(cap, countTokens(whole(material)) + SEPARATOR_TOKENS)
}

/** The material's block in at most so many tokens, or null where nothing worth reading fits. */
function blockWithin(material: Shown, share: number): string | null {
  const allowed = share - SEPARATOR_TOKENS
  const all = share > 0 && countUpTo(material.text, share) < share ? whole(material) : null
  if (all !== null && countTokens(all) <= allowed) return all
  for (let room = allowed - 40; room > 0;) {
    const cut = cutEnd(material.text, room)
    const block = cut === null ? whole(material) : cutBlock(material, cut)
    const excess = countTokens(block) - allowed
    if (excess <= 0) return cut?.text === '' ? null : block
    room -= Math.max(excess, Math.ceil(room / 8))
  }
  return null
}

function whole(material: Shown): string {
  return `${label(material)}:\n${fenced(material.text, language(material.path))}`
}

function cutBlock(material: Shown, cut: { text: string; lines: number; of: number }): string {
  const shown = cut.lines === 0 ? `within line 1 of ${cut.of}` : `after line ${cut.lines} of ${cut.of}`
  const note = `Cut ${shown}: read the rest in ${inlineCode(material.path)} (${material.bytes} bytes) where you need it.`
  return `${label(material)}, its beginning:\n${fenced(cut.text, language(material.path))}\n${note}`
}

function label({ path, stretch, bytes }: Shown): string {
  return `Content of ${inlineCode(path)}${stretch === null ? ` (${bytes} bytes)` : `, ${inlineCode(stretch)}`}`
}

/** The name's ending, where it is a plain word that may stand behind a fence. */
function language(path: string): string {
  return /\.([a-z0-9]{1,12})$/i.exec(path)?.[1]?.toLowerCase() ?? ''
}

function groupText(materials: readonly Material[], blocks: Blocks): string {
  const texts = materials.flatMap((material) => blocks.get(material) ?? [])
  const lines = materials.flatMap((material) => nameLine(material, blocks))
  const rest = lines.length - MOST_NAMES
  const list = rest > 0 ? [...lines.slice(0, MOST_NAMES), `- and ${rest} more`] : lines
  return [...texts, ...(list.length > 0 ? [list.join('\n')] : [])].join('\n\n')
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

function namedLine({ path, reason, bytes }: Named): string {
  return `- ${inlineCode(path)}${bytes === null ? '' : ` (${bytes} bytes)`} ${REASONS[reason]}.`
}

function unshownLine({ path, stretch, bytes }: Shown): string {
  const part = stretch === null ? '' : `, ${inlineCode(stretch)},`
  return `- ${inlineCode(path)}${part} (${bytes} bytes) did not fit here: read it where you need it.`
}

function listingLine({ pattern, paths, more }: Listing): string {
  if (paths.length === 0) return `- ${inlineCode(pattern)} stands for no file yet.`
  const names = paths.slice(0, MOST_NAMES).map(inlineCode).join(', ')
  const hidden = paths.length - MOST_NAMES
  const rest = more ? ', and more' : hidden > 0 ? `, and ${hidden} more` : ''
  return `- ${inlineCode(pattern)} stands for ${names}${rest}.`
}
