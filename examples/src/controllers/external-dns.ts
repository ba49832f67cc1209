// external-dns: a Service or an Ingress with an annotation gets DNS records that lead to it, by an HTTP API or in Route 53.
import { Ingress, Service } from 'outrigger/kubernetes';
import * as z from 'zod';
import { httpRecords, type Records } from './external-dns/records.ts';
import { route53Permissions, route53Records } from './external-dns/route53.ts';

/** The names: `shop.example.com,www.example.com`. */
const hostnames = 'external-dns.alpha.kubernetes.io/hostname';
/** Where they lead to, if that is not in the status. */
const target = 'external-dns.alpha.kubernetes.io/target';
/** The names that may have records. Written before the first record is made, so that every record is found again. */
const published = 'external-dns.example.com/published';

type Source = {
  readonly metadata: { readonly uid: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { ip?: string; hostname?: string }[] } };
};
type Context = {
  readonly clients: Records;
  readonly signal: AbortSignal;
  setMetadata(given: { readonly annotations: Readonly<Record<string, string>> }): Promise<void>;
};

const declared = {
  // Without it each Service of the cluster would get a finalizer.
  selector: { annotations: [hostnames] },
  sets: { annotations: [published] },
  settings: z
    .object({
      DNS_URL: z.string().default(''),
      ZONE_ID: z.string().default(''),
      ROUTE53_ENDPOINT: z.string().default(''),
    })
    .refine(({ DNS_URL, ZONE_ID }) => DNS_URL !== '' || ZONE_ID !== '', 'DNS_URL or ZONE_ID'),
  permissions: route53Permissions,
};
const clientOf = ({ DNS_URL, ZONE_ID, ROUTE53_ENDPOINT }: z.output<typeof declared.settings>) =>
  DNS_URL === '' ? route53Records(ZONE_ID, ROUTE53_ENDPOINT) : httpRecords(DNS_URL);

export const externalDnsService = Service.controller('external-dns-service', {
  ...declared,
  clients: clientOf,
  reconcile: async (service, context) => await publish(service, context),
  finalize: async (service, context) => await unpublish(service, context),
});

export const externalDnsIngress = Ingress.controller('external-dns-ingress', {
  ...declared,
  // A load balancer writes its address into the status.
  changes: 'any',
  clients: clientOf,
  reconcile: async (ingress, context) => await publish(ingress, context),
  finalize: async (ingress, context) => await unpublish(ingress, context),
});

async function publish({ metadata, status }: Source, { clients, setMetadata, signal }: Context): Promise<void> {
  const { [hostnames]: names, [target]: given, [published]: before } = metadata.annotations ?? {};
  const addresses = status?.loadBalancer?.ingress?.flatMap(({ ip, hostname }) => ip ?? hostname ?? []) ?? [];
  const targets = given === undefined ? addresses : split(given);
  const wanted = targets.length === 0 ? [] : split(names).map(asListed);
  const all = [...new Set([...split(before), ...wanted])];
  await setMetadata({ annotations: all.length === 0 ? {} : { [published]: all.join() } });
  for (const host of all) {
    if (wanted.includes(host)) await clients.publish(host, metadata.uid, targets, signal);
    else await clients.remove(host, metadata.uid, signal);
  }
  await setMetadata({ annotations: wanted.length === 0 ? {} : { [published]: wanted.join() } });
}

async function unpublish({ metadata }: Source, { clients, signal }: Context): Promise<'done'> {
  // Not the names that are wanted: an object that has lost the annotation has no more of those.
  const hosts = split(metadata.annotations?.[published]);
  for (const host of hosts) await clients.remove(host, metadata.uid, signal);
  return 'done';
}

/** As a zone lists names: without capital letters, and here without the dot at the end. */
const asListed = (host: string) => host.toLowerCase().replace(/\.$/, '');

function split(text = ''): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
