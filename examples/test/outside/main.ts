// Starts the doubles of the systems outside of the cluster, and runs a command with the settings that lead to them.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { startHttpDns } from './dns.ts';
import { startPostgres } from './postgres.ts';
import { startVault } from './vault.ts';

const now = () => new Date();
const worlds = await Promise.all([startHttpDns(), startPostgres({ now, seconds: 10 }), startVault({ now })]);
const token = `file:${path.join(import.meta.dirname, 'vault-token')}`;
const settings = Object.assign({}, ...worlds.map(({ environment }) => environment), { VAULT_TOKEN: token });

const [command = '', ...argv] = process.argv.slice(2);
const child = spawn(command, argv, { stdio: 'inherit', env: { ...process.env, ...settings } });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
