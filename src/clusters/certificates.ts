// PEM as people paste it: checked when it is read, because a wrong or expired one otherwise shows as a TLS error much later.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { ConnectionProblem } from './connection-problem.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Checks a bundle of authorities and returns it. `where` names file and field, for the problem. */
export function checkAuthorities(pem: string, where: string): string {
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0)
    throw new ConnectionProblem(`${where}: no PEM certificate in it; give the cluster's CA certificate`);
  for (const block of blocks) readCertificate(block, where);
  return pem;
}

/** Checks a client certificate and its key and returns them. Expired or not yet valid ones are problems. */
export function checkClientCertificate(
  { cert, key }: { readonly cert: string; readonly key: string },
  where: string,
  now: Date,
): { cert: string; key: string } {
  const [leaf] = cert.match(CERTIFICATE) ?? [];
  if (leaf === undefined)
    throw new ConnectionProblem(`${where}: no PEM certificate in it; give the client's certificate`);
  const parsed = readCertificate(leaf, where);
  if (parsed.validToDate < now) {
    throw new ConnectionProblem(
      `${where}: the client certificate expired on ${parsed.validToDate.toISOString()}; renew it`,
    );
  }
  if (parsed.validFromDate > now) {
    throw new ConnectionProblem(
      `${where}: the client certificate is valid from ${parsed.validFromDate.toISOString()}; check the clock`,
    );
  }
  if (!belongs(parsed, key))
    throw new ConnectionProblem(`${where}: the client key is not that of the client certificate; give the pair`);
  return { cert, key };
}

/** Decodes base64 as kubeconfigs and tables carry PEM. */
export function decodeBase64(text: string, where: string): string {
  const compact = text.replaceAll(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact))
    throw new ConnectionProblem(`${where}: not base64; encode the PEM file with base64`);
  return Buffer.from(compact, 'base64').toString('utf8');
}

function readCertificate(pem: string, where: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new ConnectionProblem(`${where}: a PEM certificate in it cannot be read; copy it anew`, { cause: error });
  }
}

function belongs(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
