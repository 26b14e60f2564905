import { expect, test } from 'vitest'
import { available } from '../cage/here.ts'
import { fenced, planScene, RESEARCH } from './planner.ts'
import { env, git, makeFolder } from '../repository.ts'
import { ralph } from '../cli/ralph.ts'

const AGENT = `cat > /dev/null
echo bad > README.md
echo bad > new.txt
cat <<'ANSWER'
${fenced({ ...RESEARCH, small: true })}
ANSWER
`

test.skipIf(!available.ok)('in the sandbox nothing of the repository can be written', async () => {
  const sandbox = { write: ['README.md'] }
  const { root } = planScene({ 'agent.sh': AGENT }, { command: 'sh agent.sh', sandbox })
  const { stdout } = await ralph(['plan', 'A shop', '--sandbox', 'on', '--yes'], {
    cwd: root,
    env: { ...env, HOME: makeFolder() },
  })
  expect(stdout).toContain('the sandbox refused the agent to write README.md (nothing allows that)')
  expect(stdout).toContain('the sandbox refused the agent to write new.txt (nothing allows that)')
  expect(stdout).not.toContain('the agent was only to read')
  expect(stdout).toContain('✓  research')
  expect(git(root, 'status', '--porcelain')).toBe('')
})
