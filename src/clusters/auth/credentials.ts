// Validates PEM certificates, client keys and bearer tokens when they are read. Otherwise an invalid or expired
// certificate causes a TLS error much later.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import * as z from 'zod';
import { UserError } from '../../core/errors.ts';

const certificatePattern = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** A token that is valid in an Authorization header after `Bearer`: no spaces, no control characters. */
export const bearerToken = z.string().regex(/^[!-~]+$/);

/** Validates a bundle of authorities and returns it. `where` names file and field, for the error. */
export function checkAuthorities(pem: string, where: string): string {
  const blocks = pem.match(certificatePattern) ?? [];
  if (blocks.length === 0) throw new UserError(`${where}: no PEM certificate in it; give the cluster's CA certificate`);
  for (const block of blocks) readCertificate(block, where);
  return pem;
}

/**
 * Validates a client certificate and its key and returns them. Throws if it is expired, not yet valid or not a pair.
 */
export function checkClientCertificate(
  { cert, key }: { readonly cert: string; readonly key: string },
  where: string,
  now: Date,
): { cert: string; key: string } {
  const [leaf] = cert.match(certificatePattern) ?? [];
  if (leaf === undefined) throw new UserError(`${where}: no PEM certificate in it; give the client's certificate`);
  const parsed = readCertificate(leaf, where);
  if (parsed.validToDate < now) {
    throw new UserError(`${where}: the client certificate expired on ${parsed.validToDate.toISOString()}; renew it`);
  }
  if (parsed.validFromDate > now) {
    throw new UserError(
      `${where}: the client certificate is not valid before ${parsed.validFromDate.toISOString()}; check the clock`,
    );
  }
  if (!isKeyOf(parsed, key))
    throw new UserError(`${where}: the client key does not match the client certificate; give a matching pair`);
  return { cert, key };
}

/**
 * Returns the advice for a server whose certificate is not trusted. `place` names the location of its CA certificate.
 */
export function whenCertificateChanged(where: string, place: string): string {
  return `${where}: if its certificate has changed, put the CA certificate that it has now into ${place}`;
}

/** Decodes base64, in which kubeconfigs and clusters tables contain PEM. */
export function decodeBase64(text: string, where: string): string {
  const compact = text.replaceAll(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact))
    throw new UserError(`${where}: not base64; encode the PEM file with base64`);
  return Buffer.from(compact, 'base64').toString('utf8');
}

function readCertificate(pem: string, where: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new UserError(`${where}: a PEM certificate in it cannot be read; copy it again`, { cause: error });
  }
}

function isKeyOf(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
