// The outrigger command: a thin list, one file a command.
import { program } from 'commander';
import { devCommand } from './dev.ts';

await program.name('outrigger').addCommand(devCommand()).parseAsync();
