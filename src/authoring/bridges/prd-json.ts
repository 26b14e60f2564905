import { foreignDraft, titleOf, type ForeignDraft } from './draft.ts'
import { setJson } from './edit.ts'
import { keyOf, type Format } from './format.ts'
import { criteriaOf, keyed, type Entry } from './source.ts'

/** User stories that pass or do not: `prd.json`. */
export const prdJson: Format = {
  about: 'user stories (prd.json)',
  find: (look) => (keyOf(look, 'userStories')?.kind === 'list' ? look.path : null),
  read(path, sources) {
    const root = sources.root(path, ROOT)
    const about = root?.text('description') ?? ''
    const background =
      about === '' ? [] : ([[`About ${root?.text('project', 'name') || 'the project'}`, about]] as const)
    const drafts = keyedStories(root).map(({ entry: story, key }): ForeignDraft => {
      const title = titleOf(story.text('title', 'name', 'description'))
      return foreignDraft({
        key,
        title,
        status: passes(story) ? 'DONE' : 'TODO',
        description: story.text('description') || title,
        background,
        criteria: criteriaOf(story, 'acceptanceCriteria', 'acceptance_criteria'),
        hints: story.text('notes'),
        touches: story.texts('fileScope'),
        priority: story.text('priority') || null,
        depends: story.texts('dependsOn', 'dependencies', 'depends_on'),
        tags: story.texts('labels', 'tags'),
        place: story.source.placeOf(story.at),
      })
    })
    return { drafts }
  },
  write(path, sources, { key, status }) {
    const root = sources.root(path, ROOT)
    const story = keyedStories(root).find((one) => one.key === key)?.entry
    if (!root || !story || passes(story) === (status === 'DONE')) return new Map()
    return root.source.edited(setJson(story, 'passes', status === 'DONE'))
  },
}

const ROOT = 'an object with "userStories"'

function keyedStories(root: Entry | null): ReturnType<typeof keyed> {
  return keyed((root?.entries('userStories') ?? []).toSorted((one, other) => rankOf(one) - rankOf(other)))
}

function rankOf(story: Entry): number {
  const value = story.scalar('priority')?.value
  return typeof value === 'number' ? value : Infinity
}

function passes(story: Entry): boolean {
  return story.scalar('passes')?.value === true
}
