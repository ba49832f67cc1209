// The options with which a command chooses a clusters table.
import type { Command } from 'commander';
import { devFolder } from '../place.ts';

/** Adds the options. */
export function withTableOptions(command: Command): Command {
  return command
    .option('--stage <name>', 'the deployment whose table it is')
    .option('--region <name>', 'its AWS region; by default from AWS_REGION or your profile')
    .option('--table <location>', 's3://bucket/key or a JSON file; by default the table of the stage')
    .option('--folder <path>', 'without a stage: the folder of the outrigger dev whose table it is', devFolder);
}
