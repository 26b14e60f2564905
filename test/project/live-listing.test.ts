import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { liveListing } from '../../src/config/listing.ts'
import { openPlace } from '../../src/config/project.ts'
import { projectFolder, taskText } from '../repository.ts'

it('reads the files that have changed, that are new and that are gone', async () => {
  const root = projectFolder({
    'docs/tasks/T-001.md': taskText('T-001', 'One'),
    'docs/tasks/T-002.md': taskText('T-002', 'Two'),
  })
  const listing = liveListing(await openPlace({ cwd: root, dir: undefined }), ['title', 'milestone'])
  const titles = async () => (await listing.read()).map(({ task }) => task.title)
  expect(await titles()).toEqual(['One', 'Two'])
  let changes = 0
  onTestFinished(listing.watch(() => changes++))
  const file = (id: string) => join(root, `docs/tasks/${id}.md`)
  writeFileSync(file('T-001'), taskText('T-001', 'Another one'))
  writeFileSync(file('T-003'), taskText('T-003', 'Three'))
  rmSync(file('T-002'))
  await expect.poll(titles).toEqual(['Another one', 'Three'])
  await expect.poll(() => changes).toBeGreaterThan(0)
})
