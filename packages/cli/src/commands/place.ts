// Where a printed command works. Each remedy names the deployment for which it was printed: without that, it would
// change another stage, another region, or the system of this machine.
import { partitionOf } from 'outrigger/internal/signing/partition';

/** What chooses a deployment. */
export type Place = {
  readonly stage?: string | undefined;
  readonly region?: string | undefined;
  readonly table?: string | undefined;
  /** The folder of an `outrigger dev`. */
  readonly folder?: string | undefined;
};

/** The folder of `outrigger dev` that needs no option. */
export const devFolder = '.outrigger';

/** Formats the options of a command of outrigger or osls: ` --stage prod --region eu-central-1`, or '' for none. */
export function placeOptions(given: Place): string {
  const options = [
    ['stage', given.stage],
    ['region', given.region],
    ['table', given.table],
    ['folder', given.folder === devFolder ? undefined : given.folder],
  ] as const;
  return options.map(([name, value]) => (value === undefined ? '' : ` --${name} ${value}`)).join('');
}

/** The location of a deployment, from the URLs of its queues. An emulator's have no region. */
type Location = { readonly prefix: string; readonly region: string | undefined; readonly account: string };

/** Reads the location. */
export function locationOf(urlPrefix: string): Location {
  const { hostname, pathname } = new URL(urlPrefix);
  const [, account = '', prefix = ''] = pathname.split('/');
  const [, region] = /^sqs\.([a-z]+(?:-[a-z]+)+-\d)\./.exec(hostname) ?? [];
  return { prefix, region, account };
}

/** Formats the ARN of something whose name begins with the prefix of the deployment. */
export function arnOf(urlPrefix: string, service: string, rest: string): string {
  const { region = '', account } = locationOf(urlPrefix);
  return `arn:${partitionOf(region).name}:${service}:${region}:${account}:${rest}`;
}

/** Formats a command of the AWS CLI, such as `lambda update-event-source-mapping`, in the deployment's region. */
export function awsCommand(urlPrefix: string, operation: string, options: string): string {
  const { region } = locationOf(urlPrefix);
  return `aws ${operation}${placeOptions({ region })} ${options}`;
}
