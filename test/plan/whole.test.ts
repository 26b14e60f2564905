import { join } from 'node:path'
import { expect, test } from 'vitest'
import { by, ralph } from '../cli/ralph.ts'
import { env, git, makeFolder, put } from '../repository.ts'
import { planScene, TASKS } from './planner.ts'

const SPECS = {
  'specs/users.md': '# Users\n\nUsers are kept.\n',
  'specs/login.md': '# Login\n\nUsers log in.\n',
  'specs/mail.md': '# Mail\n\nUsers get mail.\n',
}

/** Makes what a task says that it produces. */
const WORKER = `cat > /dev/null
sed -n '/^## Produces/,$ s/^- \`\\(.*\\)\`$/\\1/p' "$RALPH_TASK_FILE" | while read -r file; do
  mkdir -p "$(dirname "$file")"
  echo made > "$file"
done
echo "<TASK_DONE>"
`

interface Implementation {
  readonly specs: readonly {
    readonly status: string
    readonly tasks: readonly { readonly id: string; readonly status: string }[]
  }[]
}

test('three documents become a backlog, the backlog is done by two at once, and other tools hear of it', async () => {
  const worker = makeFolder()
  put(worker, { 'worker.sh': WORKER })
  const scene = planScene(SPECS)
  const [login, users] = TASKS.tasks
  const mail = { ...login!, key: 'send-mail', title: 'Send mail', produces: ['src/mail.js'] }
  scene.answers('tasks', { tasks: [login!, users!, mail] })
  const planned = await scene.plan('specs/*.md', '--yes', '--export', 'implementation')
  expect(planned).toMatchObject({ code: 0 })
  const states = (): readonly string[] => {
    const { specs } = JSON.parse(scene.read('implementation.json')) as Implementation
    return specs.flatMap(({ status, tasks }) => [status, ...tasks.map((task) => `${task.id} ${task.status}`)])
  }
  expect(states()).toEqual(['pending', 'T-001 pending', 'pending', 'T-002 pending', 'T-003 pending'])
  expect(git(scene.root, 'status', '--porcelain')).toBe('')

  const loop = ['run', '--loop', '--jobs', '2', '--command', `sh ${join(worker, 'worker.sh')}`]
  const ran = await ralph(loop, { cwd: scene.root, env: { ...env, HOME: makeFolder() } })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(states()).toEqual([
    'completed',
    'T-001 completed',
    'completed',
    'T-002 completed',
    'T-003 completed',
  ])
  for (const command of ['verify', 'lint']) expect(await by(scene.root, command)).toMatchObject({ code: 0 })
  expect(git(scene.root, 'status', '--porcelain')).toBe('')
  expect(scene.read('src/mail.js')).toBe('made\n')
}, 60_000)

test("another tool's file is not written anew", async () => {
  const theirs = '{ "specs": [] }\n'
  const scene = planScene({ 'implementation.json': theirs })
  const { code, stderr } = await scene.plan('Users who log in', '--yes', '--export', 'implementation')
  expect(code).toBe(2)
  expect(stderr).toContain('implementation.json is there already')
  expect(scene.read('implementation.json')).toBe(theirs)
  expect(scene.prompts('research')).toEqual([])
})
