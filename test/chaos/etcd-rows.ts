// What an etcd can do to watchers and functions: forget, and go back. Only the real one does either.
import type { Row, Stage } from './row.ts';
import { isWatch } from './watch-request.ts';

/** The rows of etcd. */
export const etcdRows: readonly Row[] = [
  {
    fault: 'etcd compacted under watchers',
    how: 'watches cut, changes, etcd compacted, API server started anew: it has nothing to resume from',
    real: true,
    run: async (stage) => {
      const { system, editor, changes } = stage;
      system.api.gone();
      system.api.rule((asked) => (isWatch(asked) ? { type: 'reset' } : undefined));
      system.api.breakStreams({ type: 'reset' });
      await editor.edit(Math.ceil(changes / 2));
      await forget(stage);
      system.api.rule();
      await editor.edit(Math.floor(changes / 2));
      await system.atTheirPlaces();
      return onlyIfGone(system.api.gone());
    },
  },
  {
    fault: 'etcd compacted without watchers',
    how: 'no watcher, changes, etcd compacted, API server and watchers started anew: the cursor cannot be listed',
    real: true,
    run: async (stage) => {
      const { system, editor, changes } = stage;
      await system.crew.man({ count: 0 });
      system.api.gone();
      await editor.edit(Math.ceil(changes / 2));
      await forget(stage);
      await system.crew.man({ count: 1 });
      await editor.edit(Math.floor(changes / 2));
      await system.atTheirPlaces();
      return onlyIfGone(system.api.gone());
    },
  },
  {
    fault: 'etcd restored from a backup',
    how: 'backup, half of the changes, backup put back, the other half: watchers and functions run all the time',
    real: true,
    run: async ({ system: { plane, ...system }, editor, judge, changes }) => {
      if (plane === undefined) throw new Error('only a real etcd has a backup');
      const few = Math.ceil(changes / 4);
      await editor.edit(few);
      await plane.backUp();
      await system.atTheirPlaces();
      await editor.edit(Math.ceil(changes / 2));
      await plane.restore();
      await judge.rewound();
      await editor.edit(few);
      return 1;
    },
  },
];

/** Compacts, and lets the API server lose what it remembers by itself. */
async function forget({ system: { plane } }: Stage): Promise<void> {
  if (plane === undefined) throw new Error('only a real etcd is compacted');
  await plane.compact();
  await plane.restartApiServer();
}

/** Whoever was never told so was not forced to list again. */
function onlyIfGone(times: number): number {
  if (times === 0) throw new Error('nobody was told that a version is gone');
  return times;
}
