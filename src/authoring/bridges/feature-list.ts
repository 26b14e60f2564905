import { nameOf, type Format } from './format.ts'
import { slugKeys } from './implementation.ts'
import { backgroundOf, storyTask } from './prd-json.ts'
import { byPriority, eachHas, entriesOf, keyed, type Sources } from './source.ts'

/** Features that pass or do not: `feature_list.json`, which is a list of them, or an object with one. */
export const featureList: Format = {
  about: 'features that pass or do not (feature_list.json)',
  find(path, sources) {
    if (nameOf(path) === 'feature_list.json' && sources.open(path)) return path
    const items = itemsIn(path, sources) ?? []
    return items.length > 0 && eachHas(items, 'passes') ? path : null
  },
  read(path, sources) {
    const items = itemsIn(path, sources)
    const source = sources.open(path)
    if (!source || !items) {
      if (sources.value(path)) source?.report(0, 'expected a list of features, or an object with "features"')
      return { tasks: [] }
    }
    const features = entriesOf(source, items, 'a feature')
    // Most features have no id, and their texts never change.
    const slugs = slugKeys(
      features.map((feature) => feature.text('description', 'name', 'title')),
      'feature',
    )
    const keys = new Map(features.map((feature, index) => [feature, feature.text('id') || slugs[index]!]))
    const sorted = keyed(features.toSorted(byPriority), (feature) => keys.get(feature)!)
    const background = backgroundOf(sources.items(path) ? null : sources.root(path, 'an object'))
    return { tasks: sorted.map(({ entry, key }) => storyTask(entry, key, background)) }
  },
}

function itemsIn(path: string, sources: Sources) {
  return sources.items(path) ?? sources.items(path, 'features')
}
