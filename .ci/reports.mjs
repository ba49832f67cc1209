// The sum of the tiers' reports (vitest's JSON), and what failed in them, for the end of .ci/run.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const longest = 2_000;

const [folder, failedSteps] = process.argv.slice(2);
let passed = 0;
let failed = Number(failedSteps);
const failures = existsSync(`${folder}/missed`) ? [readFileSync(`${folder}/missed`, 'utf8').trimEnd()] : [];
for (const name of readdirSync(folder).flatMap((file) => /^(.*)\.json$/.exec(file)?.[1] ?? [])) {
  const files = read(name);
  const broken = files.filter(isFailed).flatMap(told);
  if (broken.length === 0 && existsSync(`${folder}/${name}.failed`)) {
    broken.push(`${name}: an error outside of its tests`);
  }
  passed += files.flatMap((file) => file.assertionResults).filter(({ status }) => status === 'passed').length;
  failed += broken.length;
  failures.push(...broken);
}
process.stdout.write(failures.length === 0 ? '' : `\n==> what failed\n${failures.join('\n')}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

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
