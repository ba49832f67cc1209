// The environment variable that turns off the verification of certificates for a whole process.
import { onTestFinished } from 'vitest';

/** Sets the variable until the end of the test. */
export function turnVerificationOff(): void {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  onTestFinished(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  });
}
