import { setJson } from './edit.ts'
import { foreignDraft, titleOf, type ForeignDraft, type ForeignTask, type Format } from './format.ts'
import { byPriority, criteriaOf, keyed, statusOf, type Entry } from './source.ts'

/** User stories that pass or do not: `prd.json`. */
export const prdJson: Format = {
  about: 'user stories (prd.json)',
  find: (path, sources) => sources.items(path, 'userStories') && path,
  read(path, sources) {
    const root = sources.root(path, 'an object with "userStories"')
    const stories = keyed((root?.entries('userStories') ?? []).toSorted(byPriority))
    const background = backgroundOf(root)
    return { tasks: stories.map(({ entry, key }) => storyTask(entry, key, background)) }
  },
}

/** The description of the whole project, as every task's background. */
export function backgroundOf(root: Entry | null): ForeignDraft['background'] {
  const about = root?.text('description') ?? ''
  return about === '' ? [] : [[`About ${root?.text('project', 'name') || 'the project'}`, about]]
}

const WORDS = { TODO: 'pending', DONE: 'done', BLOCKED: 'blocked' } as const

/** A story or feature. Whether it passes says more than its status, which it may have too. */
export function storyTask(story: Entry, key: string, background: ForeignDraft['background']): ForeignTask {
  const passes = story.flag('passes')
  const hasWord = passes === undefined && story.text('status') !== ''
  const status = hasWord ? statusOf(story) : passes === true ? 'DONE' : 'TODO'
  return {
    key,
    draft() {
      const title = titleOf(story.text('title', 'name', 'description'))
      return foreignDraft({
        key,
        title,
        status,
        milestone: story.text('milestone', 'phase') || null,
        description: story.text('description') || title,
        background,
        criteria: criteriaOf(story, 'acceptanceCriteria', 'acceptance_criteria', 'acceptance', 'steps'),
        hints: story.text('notes'),
        touches: story.texts('fileScope', 'files'),
        priority: story.text('priority') || null,
        depends: story.texts('dependsOn', 'dependencies', 'depends_on'),
        tags: [...story.texts('labels', 'tags'), ...story.texts('category')],
        place: story.source.placeOf(story.at),
      })
    },
    write({ status: end }) {
      if (hasWord) return setJson(story, 'status', WORDS[end])
      const isDone = end === 'DONE'
      return (status === 'DONE') === isDone ? [] : setJson(story, 'passes', isDone)
    },
  }
}
