// Makes an animated SVG of what a terminal has shown: small, sharp at each size, in the reader's theme, and still for a
// reader who wants less motion. Browsers and GitHub show it as they show a picture, so it has no script.
import { stripVTControlCharacters } from 'node:util';

/** Lines with xterm's colours, shown for so many milliseconds. */
export type TerminalFrame = { readonly lines: readonly string[]; readonly milliseconds: number };

/** In units of the picture. Each column has its place, so that a reader's font may be narrower. */
const columnWidth = 8.6;
const rowHeight = 18;
const padding = 14;
/** The classes of colours, by the control sequences that begin them. */
const classes = { '32': 'good', '34': 'busy', '31': 'bad', '33': 'unknown', '2': 'neutral' } as const;

/** Joins frames of one size, shown without end. With reduced motion only the last one is shown. */
export function terminalSvg(
  frames: readonly TerminalFrame[],
  { columns, rows, title }: { readonly columns: number; readonly rows: number; readonly title: string },
): string {
  const [width, height] = [columns * columnWidth + 2 * padding, rows * rowHeight + 2 * padding];
  const total = frames.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  // The frames are a strip, which jumps from one to the next behind the edge of the picture.
  const place = (index: number) => `transform: translateY(${-index * height}px)`;
  let shown = 0;
  const steps = frames.map(({ milliseconds }, index) => {
    const step = `${((shown / total) * 100).toFixed(3)}% { ${place(index)} }`;
    shown += milliseconds;
    return step;
  });
  const texts = frames.flatMap(({ lines }, index) =>
    lines.map((line, row) => textOf(line, index * height + padding + (row + 0.75) * rowHeight)),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escaped(title)}</title>
<style>
  text { font: 14px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328 }
  .page { fill: #f6f8fa; stroke: #d1d9e0 } .neutral { fill: #59636e }
  .good { fill: #1a7f37 } .busy { fill: #0969da } .bad { fill: #cf222e } .unknown { fill: #9a6700 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc } .neutral { fill: #9198a1 }
    .good { fill: #3fb950 } .busy { fill: #4493f8 } .bad { fill: #f85149 } .unknown { fill: #d29922 }
  }
  @keyframes strip { ${steps.join(' ')} }
  .strip { animation: strip ${total}ms step-end infinite }
  @media (prefers-reduced-motion: reduce) { .strip { animation: none; ${place(frames.length - 1)} } }
</style>
<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6"/>
<g class="strip">
${texts.filter(Boolean).join('\n')}
</g>
</svg>
`;
}

/** A line, whose words are where the terminal has them. */
function textOf(line: string, y: number): string {
  const [, tone] = Object.entries(classes).find(([code]) => line.includes(`\u001b[${code}m`)) ?? [];
  const parts = [...stripVTControlCharacters(line).matchAll(/\S+(?: \S+)*/g)].map(
    ({ 0: text, index }) => `<tspan x="${(padding + index * columnWidth).toFixed(1)}">${escaped(text)}</tspan>`,
  );
  const attribute = tone === undefined ? '' : ` class="${tone}"`;
  return parts.length === 0 ? '' : `<text${attribute} y="${y}">${parts.join('')}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
