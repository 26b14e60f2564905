import { setJson } from './edit.ts'
import { foreignDraft, titleOf, type ForeignTask, type Format } from './format.ts'
import { byPriority, criteriaOf, keyed } from './source.ts'

/** User stories that pass or do not: `prd.json`. */
export const prdJson: Format = {
  about: 'user stories (prd.json)',
  find: (path, sources) => sources.items(path, 'userStories') && path,
  read(path, sources) {
    const root = sources.root(path, 'an object with "userStories"')
    const about = root?.text('description') ?? ''
    const background =
      about === '' ? [] : ([[`About ${root?.text('project', 'name') || 'the project'}`, about]] as const)
    const stories = keyed((root?.entries('userStories') ?? []).toSorted(byPriority))
    const tasks = stories.map(({ entry: story, key }): ForeignTask => {
      const passes = story.value('passes')
      const isDone = passes?.kind === 'scalar' && passes.value === true
      return {
        key,
        draft() {
          const title = titleOf(story.text('title', 'name', 'description'))
          return foreignDraft({
            key,
            title,
            status: isDone ? 'DONE' : 'TODO',
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
        },
        write: ({ status }) =>
          isDone === (status === 'DONE') ? [] : setJson(story, 'passes', status === 'DONE'),
      }
    })
    return { tasks }
  },
}
