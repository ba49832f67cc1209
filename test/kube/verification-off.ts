// The variable with which somebody may want to turn the verification of certificates off for a whole process.
import { onTestFinished } from 'vitest';

/** Sets it until the test has ended. */
export function turnVerificationOff(): void {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  onTestFinished(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  });
}
