// Makes an animated PNG of pictures of one size, which browsers and GitHub show as they show a picture.
import { crc32 } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');

/** Joins frames, each shown for so many milliseconds, without end. */
export function animatedPng(frames: readonly { readonly png: Buffer; readonly milliseconds: number }[]): Buffer {
  const header = chunksOf(frames[0]?.png ?? signature).find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13);
  let sequence = 0;
  const numbered = (type: string, data: Buffer) => chunk(type, Buffer.concat([uint32(sequence++), data]));
  const parts = frames.flatMap(({ png, milliseconds }, index) => {
    const delay = Buffer.from([milliseconds >> 8, milliseconds & 255, 1000 >> 8, 1000 & 255, 0, 0]);
    const control = numbered('fcTL', Buffer.concat([header.subarray(0, 8), uint32(0), uint32(0), delay]));
    const pixels = chunksOf(png).flatMap(({ type, data }) => (type === 'IDAT' ? [data] : []));
    return [control, ...pixels.map((data) => (index === 0 ? chunk('IDAT', data) : numbered('fdAT', data)))];
  });
  const animation = chunk('acTL', Buffer.concat([uint32(frames.length), uint32(0)]));
  return Buffer.concat([signature, chunk('IHDR', header), animation, ...parts, chunk('IEND', Buffer.alloc(0))]);
}

function chunksOf(png: Buffer): readonly { readonly type: string; readonly data: Buffer }[] {
  const chunks = [];
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), typed, uint32(crc32(typed))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
