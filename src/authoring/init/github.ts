import type { PlannedFile } from './plan.ts'

/** What the files for GitHub depend on. */
export interface GithubFindings {
  /** The path from the top of the repository to the project: empty, or ending with a slash. */
  readonly prefix: string
  /** The version of ralph that the workflows install. */
  readonly version: string
  /** The task folder. */
  readonly dir: string
  /** Whether to add a workflow that runs agents. */
  readonly withRun: boolean
}

// Pinned by commit: a tag can be moved.
const CHECKOUT = 'actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2'
const SETUP_NODE = 'actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0'

/** The files for a team on GitHub: checks of pull requests, templates, and a workflow that runs agents. */
export function githubFiles(findings: GithubFindings): readonly PlannedFile[] {
  const { prefix, withRun } = findings
  const up = '../'.repeat(prefix.split('/').length - 1)
  const files = {
    'workflows/ralph-check.yml': checkWorkflow(findings),
    ...(withRun ? { 'workflows/ralph-run.yml': runWorkflow(findings) } : {}),
    'ISSUE_TEMPLATE/ralph-task.yml': ISSUE_FORM,
    'PULL_REQUEST_TEMPLATE/ralph-tasks.md': pullRequestTemplate(findings),
  }
  return Object.entries(files).map(([name, text]) => ({ file: `${up}.github/${name}`, text }))
}

/** The first steps: fetch the whole history, and leave no token where other programs could read it. */
function setUp({ version }: GithubFindings): string {
  return `      - uses: ${CHECKOUT}
        with:
          fetch-depth: 0 # all of history: diff, verify and log look into it
          persist-credentials: false
      - uses: ${SETUP_NODE}
        with:
          node-version: 22
      - run: npm install --global ralph-tasks@${version}`
}

function workingFolder({ prefix }: GithubFindings): string {
  return prefix === ''
    ? ''
    : `    defaults:
      run:
        working-directory: ${JSON.stringify(prefix.replace(/\/$/, ''))}
`
}

function checkWorkflow(findings: GithubFindings): string {
  return `# Checks the task files, and shows what a pull request does to the backlog.
# Written by ralph init --github; from here on it is yours.
name: ralph check

on:
  pull_request:
  push:
    branches: [main, master]

permissions: {}

concurrency:
  group: ralph-check-\${{ github.ref }}
  cancel-in-progress: true

jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    permissions:
      contents: read
    outputs:
      diff: \${{ steps.diff.outputs.diff }}
${workingFolder(findings)}    steps:
${setUp(findings)}
      - name: Are the task files in order?
        run: ralph lint
      - name: Does each DONE task name its commit?
        if: \${{ !cancelled() }}
        run: ralph verify
      - name: What does this do to the backlog?
        id: diff
        if: \${{ !cancelled() }}
        env:
          RANGE: \${{ github.event_name == 'pull_request' && format('{0}...{1}', github.event.pull_request.base.sha, github.event.pull_request.head.sha) || format('{0}..{1}', github.event.before, github.sha) }}
        run: |
          ralph diff "$RANGE" --markdown > "$RUNNER_TEMP/diff.md"
          cat "$RUNNER_TEMP/diff.md" >> "$GITHUB_STEP_SUMMARY"
          end="end-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')"
          { echo "diff<<$end"; head -c 60000 "$RUNNER_TEMP/diff.md"; echo; echo "$end"; } >> "$GITHUB_OUTPUT"

  # A job of its own: what may write comments runs nothing of the pull request.
  comment:
    needs: check
    if: \${{ !cancelled() && needs.check.outputs.diff != '' && github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == github.repository }}
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      pull-requests: write
    steps:
      - name: One comment, which is written anew
        env:
          GH_TOKEN: \${{ github.token }}
          PULL_REQUEST: \${{ github.event.pull_request.number }}
          DIFF: \${{ needs.check.outputs.diff }}
        run: |
          printf '<!-- ralph diff -->\\n%s\\n' "$DIFF" > "$RUNNER_TEMP/comment.md"
          comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
          own='.[] | select(.user.type == "Bot" and (.body | startswith("<!-- ralph diff -->"))) | .id'
          id="$(gh api --paginate "$comments" --jq "$own" | head -n 1)"
          if [ -n "$id" ]; then
            gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field "body=@$RUNNER_TEMP/comment.md"
          else
            gh api --method POST "$comments" --field "body=@$RUNNER_TEMP/comment.md"
          fi
`
}

function runWorkflow(findings: GithubFindings): string {
  return `# Has agents do tasks, on demand or at night, and opens a pull request with what was done.
# Written by ralph init --github-run; from here on it is yours. It needs the secret ANTHROPIC_API_KEY; for another agent
# change what is installed and the secret, and the name after --agent.
name: ralph run

on:
  workflow_dispatch:
    inputs:
      tasks:
        description: Stop after this many tasks
        default: '5'
      budget:
        description: Stop after this many dollars
        default: '10.00'
  # schedule:
  #   - cron: '17 2 * * 1-5' # at night; take the signs away

permissions: {}

concurrency:
  group: ralph-run

jobs:
  run:
    runs-on: ubuntu-latest
    timeout-minutes: 350
    permissions:
      contents: write
      pull-requests: write
    env:
      BRANCH: ralph/\${{ github.run_id }}
      BASE: \${{ github.ref_name }}
${workingFolder(findings)}    steps:
${setUp(findings)}
      - run: npm install --global @anthropic-ai/claude-code
      - name: Work
        env:
          ANTHROPIC_API_KEY: \${{ secrets.ANTHROPIC_API_KEY }}
          TASKS: \${{ inputs.tasks || '5' }}
          BUDGET: \${{ inputs.budget || '10.00' }}
        run: |
          git config user.name "ralph"
          git config user.email "ralph@users.noreply.github.com"
          git switch --quiet --create "$BRANCH"
          # It answers 1 where a task was blocked: what was done before is worth a pull request all the same.
          ralph run --loop --agent "\${RALPH_AGENT:-claude}" --max-tasks "$TASKS" --budget "$BUDGET" --on-failure block || [ $? -eq 1 ]
      - name: Open a pull request
        env:
          GH_TOKEN: \${{ github.token }}
        run: |
          if [ "$(git rev-parse HEAD)" = "$GITHUB_SHA" ]; then
            echo "No task was done." >> "$GITHUB_STEP_SUMMARY"
            exit 0
          fi
          ralph log --markdown --since "$GITHUB_SHA" | head -c 60000 > "$RUNNER_TEMP/log.md"
          cat "$RUNNER_TEMP/log.md" >> "$GITHUB_STEP_SUMMARY"
          gh auth setup-git
          git push --quiet origin "HEAD:refs/heads/$BRANCH"
          gh pr create --base "$BASE" --head "$BRANCH" --title "Tasks done by ralph on $(date +%F)" --body-file "$RUNNER_TEMP/log.md"
      - name: Keep the journal, and attempts that failed
        if: \${{ always() }}
        env:
          GH_TOKEN: \${{ github.token }}
        run: |
          gh auth setup-git
          if [ -n "$(git for-each-ref refs/ralph/attempts)" ]; then
            git push --quiet origin 'refs/ralph/attempts/*:refs/ralph/attempts/*'
          fi
`
}

const ISSUE_FORM = `name: A task for ralph
description: What an agent is to do, for somebody to make a task file of
title: 'Task: '
labels: [ralph]
body:
  - type: textarea
    id: description
    attributes:
      label: Description
      description: What to implement, and why. Write for somebody who has never seen this project.
    validations:
      required: true
  - type: textarea
    id: criteria
    attributes:
      label: Acceptance criteria
      description: What can be seen or tested when it is done, one a line.
      placeholder: '- [ ] An empty password is refused with a message'
    validations:
      required: true
  - type: input
    id: touches
    attributes:
      label: Files
      description: Files that it will read or change, with commas between them
      placeholder: src/auth/login.ts, src/auth/middleware.ts
  - type: input
    id: depends
    attributes:
      label: Needs
      description: Tasks that must be done first
      placeholder: T-001, T-003
  - type: dropdown
    id: complexity
    attributes:
      label: Complexity
      options: [Light, Standard, Heavy]
`

function pullRequestTemplate({ dir }: GithubFindings): string {
  return `<!-- For new or changed tasks: add ?template=ralph-tasks.md to the address of the new pull request. -->

## What these tasks are for

## Before this is merged

- [ ] \`ralph lint\` finds nothing wrong in \`${dir}\`
- [ ] each task says what it is for, to somebody who has never seen this project
- [ ] each acceptance criterion can be seen or tested
- [ ] Depends names all that must be there first, and Touches the files that matter
- [ ] what \`ralph diff\` says below is what was meant
`
}
