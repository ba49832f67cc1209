// An issuer of cert-manager's Certificates: has Vault issue each, keeps it in its Secret, and renews it after two thirds of
// its time. It writes what is its part of a status that another project has defined.
import { createHash } from 'node:crypto';
import { controllerUidOf, foreignKind, ok, parseJson, RetryLater, secret, TerminalError } from 'outrigger';
import { Secret } from 'outrigger/kubernetes';
import * as z from 'zod';

type CertificateObject = {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec?: { readonly secretName: string; readonly dnsNames?: readonly string[]; readonly duration?: string };
  readonly status?: { readonly notAfter?: string; readonly renewalTime?: string };
};
/** `npx outrigger import crd` writes the whole type. */
export const Certificate = foreignKind<CertificateObject, 'Certificate'>({
  group: 'cert-manager.io',
  version: 'v1',
  kind: 'Certificate',
  status: 'observed-conditions',
});

/** The annotation of a Secret with what was issued. The digest is that of its data, so that an edited one is found. */
const record = 'pki.example.com/issued';
const recordShape = z.object({ names: z.string(), notAfter: z.string(), renewalTime: z.string(), digest: z.string() });
const issued = z.object({
  data: z.object({ certificate: z.string(), private_key: z.string(), issuing_ca: z.string(), expiration: z.number() }),
});

export const certificateIssuer = Certificate.statusSlice({
  status: ['notAfter', 'renewalTime'],
  conditions: ['Ready'],
}).controller('certificate-issuer', {
  selector: { matchLabels: { 'pki.example.com/issuer': 'vault' } },
  owns: [Secret],
  settings: z.object({ VAULT_URL: z.url(), VAULT_TOKEN: secret() }),
  clients: ({ VAULT_URL, VAULT_TOKEN }) => ({
    /** Has Vault's PKI engine make a key and its certificate, by the role `outrigger`. */
    async issue(dnsNames: readonly string[], ttl: string, signal: AbortSignal) {
      const response = await fetch(new URL('v1/pki/issue/outrigger', VAULT_URL), {
        method: 'POST',
        headers: { 'x-vault-token': await VAULT_TOKEN.read() },
        body: JSON.stringify({ common_name: dnsNames[0], alt_names: dnsNames.join(), ttl }),
        signal,
      });
      if (response.status === 429) throw new RetryLater(Number(response.headers.get('retry-after') ?? 10));
      if (response.status === 403) VAULT_TOKEN.invalidate();
      if (response.status === 400) throw new TerminalError(`Vault refuses ${dnsNames.join()}`);
      if (!response.ok) throw new Error(`Vault responded ${response.status} for ${dnsNames.join()}`);
      return issued.parse(await response.json()).data;
    },
  }),

  async reconcile({ metadata: { uid }, spec }, { get, apply, clients, now, signal }) {
    const { secretName: name = '', dnsNames = [], duration = '2160h' } = spec ?? {};
    if (dnsNames.length === 0) throw new TerminalError('spec.dnsNames has no name');
    const names = dnsNames.join();
    const before = await get(Secret, { name });
    // No certificate is issued for a Secret of somebody else: this throws NotOwnedError.
    if (before !== undefined && controllerUidOf(before) !== uid) await apply(Secret, { metadata: { name } });

    let data = before?.data ?? {};
    let made = recordShape.safeParse(parseJson(before?.metadata.annotations?.[record] ?? '')).data;
    const isCurrent = made?.names === names && made.digest === digestOf(data) && timeOf(now()) < made.renewalTime;
    if (made === undefined || !isCurrent) {
      const { certificate, private_key, issuing_ca, expiration } = await clients.issue(dnsNames, duration, signal);
      data = { 'ca.crt': base64(issuing_ca), 'tls.crt': base64(certificate), 'tls.key': base64(private_key) };
      const left = expiration * 1000 - now().getTime();
      const renewalTime = timeOf(new Date(now().getTime() + (left * 2) / 3));
      made = { names, notAfter: timeOf(new Date(expiration * 1000)), renewalTime, digest: digestOf(data) };
    }
    await apply(
      Secret,
      { metadata: { name, annotations: { [record]: JSON.stringify(made) } }, type: 'kubernetes.io/tls', data },
      { exact: ['data'] },
    );
    const { notAfter, renewalTime } = made;
    return {
      status: { notAfter, renewalTime },
      conditions: { Ready: ok('Ready', `for ${names}`) },
      requeueAt: new Date(renewalTime),
    };
  },
});

/** As Kubernetes writes times, which have no parts of a second. */
const timeOf = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const digestOf = (data: Readonly<Record<string, string>>) =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(data).sort()))
    .digest('hex');
