// What the function of a controller may do on AWS: consume its queue, wait, give up, read its clusters, and log.
import type { Registered } from '../../core/controller.ts';
import { isSecret } from '../../api/secret.ts';
import { arnOf, idOf, namePrefix, ownArn } from './names.ts';
import type { Json, JsonObject } from '../json.ts';

/** Makes the role of a controller's function. */
export function roleOf({ name, declares }: Registered): JsonObject {
  const id = idOf(name);
  // Its own queue is for the keys that mapping functions find.
  const mapsKeys = declares.watches.some(({ label }) => label === undefined);
  const statements = [
    allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'], arnOf(`${id}Queue`)),
    allow(
      ['sqs:SendMessage'],
      [...(mapsKeys ? [arnOf(`${id}Queue`)] : []), arnOf(`${id}DeadLetters`), arnOf('TimersQueue')],
    ),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of serverless.yml
    allow(['ssm:GetParameter'], ownArn('ssm', 'parameter/outrigger/${self:custom.stage}/clusters/*')),
    allow(['secretsmanager:GetSecretValue'], secretsOf(declares.settings)),
    allow(
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
      ownArn('logs', `log-group:/aws/lambda/${namePrefix}${name}:*`),
    ),
  ];
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      // A name of its own, because clusters know the function by it. Roles belong to an account, not to a region.
      RoleName: { 'Fn::Sub': `${namePrefix}${name}-\${AWS::Region}` },
      AssumeRolePolicyDocument: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' }, Action: 'sts:AssumeRole' }],
      },
      Policies: [{ PolicyName: name, PolicyDocument: { Version: '2012-10-17', Statement: statements } }],
    },
  };
}

/** What entries of the clusters table refer to, and settings, where there is one that is a secret. */
function secretsOf(settings: Registered['declares']['settings']): Json {
  const hasSecrets = Object.values(settings?.shape ?? {}).some(isSecret);
  const folders = ['clusters', ...(hasSecrets ? ['settings'] : [])];
  return folders.map((folder) => ownArn('secretsmanager', `secret:outrigger/\${self:custom.stage}/${folder}/*`));
}

function allow(actions: readonly string[], resources: Json): JsonObject {
  return { Effect: 'Allow', Action: actions, Resource: resources };
}
