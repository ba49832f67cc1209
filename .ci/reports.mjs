// What .ci/run reads out of the tiers' reports (vitest's JSON): which files failed, and the sum of it all.
// A file that was run a second time counts by its second run; its first failure is told, but counts no more.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** More files than these do not fail by accident. */
const accidents = 3;
const longest = 2_000;

const [command, folder, argument] = process.argv.slice(2);
if (command === 'failed-files') {
  const files = read(argument).filter(isFailed);
  process.stdout.write(files.length > accidents ? '' : files.map(({ name }) => `${name}\n`).join(''));
} else {
  total(Number(argument));
}

function total(failedSteps) {
  const names = readdirSync(folder).filter((file) => file.endsWith('.json') && !file.endsWith('.again.json'));
  let passed = 0;
  let failed = failedSteps;
  const unstable = [];
  const failures = existsSync(`${folder}/missed`) ? [readFileSync(`${folder}/missed`, 'utf8').trimEnd()] : [];
  for (const name of names.map((file) => file.slice(0, -'.json'.length))) {
    const first = read(name);
    const again = read(`${name}.again`);
    const files = first.map((file) => again.find((other) => other.name === file.name) ?? file);
    unstable.push(...first.filter((file) => isFailed(file) && !files.includes(file)).flatMap(told));
    const broken = files.filter(isFailed).flatMap(told);
    const marked = [name, `${name}.again`].some((run) => existsSync(`${folder}/${run}.failed`));
    if (broken.length === 0 && marked) {
      broken.push(`${name}: an error outside of its tests`);
    }
    passed += files.flatMap((file) => file.assertionResults).filter(({ status }) => status === 'passed').length;
    failed += broken.length;
    failures.push(...broken);
  }
  say('what failed at its first try', unstable);
  say('what failed', failures);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function read(name) {
  const file = `${folder}/${name}.json`;
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : [];
}

function isFailed({ status, assertionResults }) {
  return status === 'failed' || assertionResults.some((test) => test.status === 'failed');
}

// A file that could not even be loaded has no failed test, and fails as one.
function told(file) {
  const tests = file.assertionResults.filter(({ status }) => status === 'failed');
  return tests.length === 0
    ? [`${file.name}: ${String(file.message).slice(0, longest)}`]
    : tests.map(({ fullName, title, failureMessages = [] }) =>
        [`${file.name}: ${fullName ?? title}`, ...failureMessages.map((message) => message.slice(0, longest))].join(
          '\n',
        ),
      );
}

function say(title, lines) {
  process.stdout.write(lines.length === 0 ? '' : `\n==> ${title}\n${lines.join('\n')}\n`);
}
