// The names that a setting of a controller may not have: those that another part reads. They are found in the sources
// that define them, so that a new variable is refused without a list. Excluded: other rules for settings
// (registry.test.ts).

import { environmentOf, optionDefaults } from '@outrigger/cli/aws/deployment';
import { awsOf } from '@outrigger/cli/aws/resources';
import { generatedFiles } from '@outrigger/cli/project/manifests';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { functionVariables } from '../../src/settings.ts';
import { only } from './sample-registry.ts';

const withSetting = (name: string) => () => generatedFiles(only('tree', z.object({ [name]: z.string() })));
const aws = awsOf([]);
const variables = Object.values(aws.functions).flatMap(({ environment }) => Object.keys(Object(environment)));

it.each([
  ['variable that a function reads', [...functionVariables()]],
  ['option of a deployment', Object.keys(optionDefaults)],
  ['variable that the template sets', [...variables, ...Object.keys(environmentOf({ project: 'a', stage: 'b' }))]],
  [
    'variable of Node',
    ['NODE_OPTIONS', 'NODE_TLS_REJECT_UNAUTHORIZED', 'NODE_ENV', 'UV_THREADPOOL_SIZE', 'SSL_CERT_FILE'],
  ],
  ['variable of Lambda', ['AWS_REGION', 'LAMBDA_TASK_ROOT', 'TZ', 'LANG', 'PATH', 'LD_LIBRARY_PATH']],
  ['variable of a library', ['OTEL_SERVICE_NAME', 'OTEL_SDK_DISABLED']],
])('B4: a setting with the name of a %s is refused', (_, names) => {
  expect(names.length).toBeGreaterThan(1);
  for (const name of names)
    expect(withSetting(name), name).toThrow(`tree.settings.${name}: the runtime has a variable`);
});

it("B4: a setting with a name that begins or ends like one of the runtime is the author's", () => {
  for (const name of ['PLANT_RETRY_SECONDS', 'RETRY_SECONDS_MAX', 'LOG_LEVEL_OF_PLANT', 'NODES_URL', 'AWSOME', 'PORT'])
    expect(withSetting(name), name).not.toThrow();
});
