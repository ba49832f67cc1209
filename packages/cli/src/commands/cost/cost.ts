// `outrigger cost`: the price of a month of this project on AWS, with the formulas of docs/cost.md.
import { Command, Option } from 'commander';
import { alignColumns } from '../../dev/columns.ts';
import { loadProject } from '../../project/project.ts';
import { acting, jsonOption, type Output, outputOption, printJson, printLines, wholeNumber } from '../command.ts';
import { type CostRow, monthOf, type Usage, watchersOf } from './month.ts';
import { readSheet } from './read-sheet.ts';

type Flags = Usage & { readonly prices?: string; readonly output: Output };

/** Makes the command. */
export function costCommand(): Command {
  return new Command('cost')
    .description('print what a month of this project costs on AWS, row by row, with the sources of the prices')
    .option('--clusters <count>', 'clusters of the stage', wholeNumber, 1)
    .option('--objects <count>', 'objects in each cluster, of all kinds that controllers reconcile', wholeNumber, 0)
    .option('--changes <count>', 'changes of all objects in a month', wholeNumber, 0)
    .addOption(new Option('--monitoring <level>', 'of the deployment').choices(['full', 'lean']).default('lean'))
    .option('--prices <file>', 'prices of another region, in the format of src/commands/cost/prices.json')
    .addOption(outputOption())
    .addOption(jsonOption())
    .addHelpText('after', helpText)
    .action(acting(run));
}

const helpText = `
Example:
  outrigger cost --clusters 50 --objects 10000 --changes 1000000

Rows are ranges: the smaller price has full batches, the larger one has one message in each. The measured invocations
are of one sample controller, and no price was read off a bill of AWS: compare it with yours. It calls nothing on AWS.
Exit status: 0; 1 if the project or the prices cannot be read.`;

async function run({ prices, output, ...usage }: Flags): Promise<number> {
  const { registry } = await loadProject(process.cwd());
  const sheet = await readSheet(registry, prices);
  const rows = monthOf(sheet, usage);
  const watchers = watchersOf(sheet, usage);
  if (output === 'json') {
    printJson({ region: sheet.region, rows, watchers, prices: sheet.prices });
    return 0;
  }
  const sum = (of: 'least' | 'most') => rows.reduce((all, row) => all + row[of], 0);
  const all = { what: 'a month', least: sum('least'), most: sum('most'), from: `${sheet.region}, without watchers` };
  printLines([
    ...alignColumns([...rows, all, ...watchers].map(({ what, from, ...range }) => [what, dollars(range), from])),
    ...['', `Prices. ${sheet.note}`],
    ...Object.values(sheet.prices).map(
      ({ what, dollars: price, sources }) =>
        `$${price} ${what}: ${sources.length === 0 ? 'unverified' : sources.join('; ')}`,
    ),
  ]);
  return 0;
}

function dollars({ least, most }: Pick<CostRow, 'least' | 'most'>): string {
  const [from, to] = [least, most].map((one) => `$${one.toFixed(2)}`);
  return from === to ? (from ?? '') : `${from} - ${to}`;
}
