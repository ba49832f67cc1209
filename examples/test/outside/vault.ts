// The PKI engine of Vault, as far as an issuer calls it. Its certificates are random texts, each another one.
import { randomUUID } from 'node:crypto';
import type { OutsideWorld } from 'outrigger/testing';
import * as z from 'zod';
import { serve } from './server.ts';

const request = z.object({ common_name: z.string(), ttl: z.templateLiteral([z.number(), 'h']) });

export async function startVault({ now }: { now(): Date }): Promise<OutsideWorld & { issued(): number }> {
  let issued = 0;
  const { url, close } = await serve(({ body }) => {
    const { common_name, ttl } = request.parse(JSON.parse(body));
    if (common_name.endsWith('.invalid')) return { status: 400 };
    issued += 1;
    const expiration = Math.floor(now().getTime() / 1000) + Number.parseInt(ttl, 10) * 3600;
    const data = { certificate: randomUUID(), private_key: randomUUID(), issuing_ca: 'the CA', expiration };
    return { body: JSON.stringify({ data }) };
  });
  return {
    environment: { VAULT_URL: url, VAULT_TOKEN: 'vault-token' },
    secrets: { 'vault-token': 'a token' },
    issued: () => issued,
    close,
  };
}
