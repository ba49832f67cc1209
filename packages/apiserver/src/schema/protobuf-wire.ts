// The wire format of protobuf: numbered fields, as varints or as bytes (protobuf.dev, "Encoding"). The schemas are
// applied in protobuf.ts.

/** One field of a message. */
export type ProtobufField = {
  readonly number: number;
  /** The value of a varint field, otherwise 0. */
  readonly varint: bigint;
  /** The content of a length-delimited field, otherwise empty. */
  readonly bytes: Buffer;
};

const noBytes = Buffer.alloc(0);

/** Splits a message into its fields, in order. Returns undefined for bytes that are no message. */
export function protobufFields(message: Buffer): ProtobufField[] | undefined {
  const fields: ProtobufField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; at < message.length; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < message.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, varint: varint(), bytes: noBytes });
        break;
      case 2: {
        const length = Number(varint());
        if (at + length > message.length) return undefined;
        fields.push({ number, varint: 0n, bytes: message.subarray(at, at + length) });
        at += length;
        break;
      }
      case 1:
        at += 8;
        break;
      case 5:
        at += 4;
        break;
      default:
        return undefined;
    }
  }
  return fields;
}
