// The YAML of an object, and the same with what its next reconcile would write, by a dry run.
import { useSignal } from '@preact/signals';
import type { ObjectRow, YamlLine } from '../../wire.ts';
import { perform } from '../actions.ts';
import { Icon } from '../parts/icon.tsx';
import { dryRunQuestion } from './object-actions.tsx';

export function Yaml({ row, text }: { readonly row: ObjectRow; readonly text: string }) {
  const copied = useSignal(false);
  const isRunning = useSignal(false);
  const planned = useSignal<readonly YamlLine[] | undefined>(undefined);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    copied.value = true;
  };
  const compare = async () => {
    isRunning.value = true;
    planned.value = (await perform({ type: 'dry-run', id: row.id }, dryRunQuestion(row)))?.yaml;
    isRunning.value = false;
  };
  const lines = planned.value ?? text.split('\n').map((one): YamlLine => ({ mark: ' ', text: one }));
  const written = lines.filter(({ mark }) => mark !== ' ').length;
  return (
    <div class="yaml">
      <div class="yaml-head">
        <p role="status">
          {planned.value === undefined
            ? ''
            : written === 0
              ? 'The next reconcile would write nothing on it.'
              : `The next reconcile would change ${written === 1 ? '1 line' : `${written} lines`}.`}
        </p>
        {planned.value === undefined ? (
          <button type="button" class="button small" disabled={isRunning.value} onClick={() => void compare()}>
            <Icon name="eye" />
            {isRunning.value ? 'Running' : 'Compare with the next reconcile'}
          </button>
        ) : (
          <button
            type="button"
            class="button small"
            onClick={() => {
              planned.value = undefined;
            }}
          >
            <Icon name="close" />
            As it is
          </button>
        )}
        <button type="button" class="button small" onClick={() => void copy()}>
          <Icon name="copy" />
          {copied.value ? 'Copied' : 'Copy'}
        </button>
      </div>
      <pre>
        {lines.map((line, index) => (
          <Line key={index} line={line} isDiff={planned.value !== undefined} />
        ))}
      </pre>
    </div>
  );
}

function Line({ line: { mark, text }, isDiff }: { readonly line: YamlLine; readonly isDiff: boolean }) {
  const [, indent = '', key = '', rest = ''] = /^(\s*(?:- )*)([^\s:'"#][^:]*:)?(.*)$/.exec(text) ?? [];
  return (
    <span class={mark === '+' ? 'added' : mark === '-' ? 'removed' : undefined}>
      {isDiff && `${mark} `}
      {indent}
      <span class="yaml-key">{key}</span>
      {rest}
      {'\n'}
    </span>
  );
}
