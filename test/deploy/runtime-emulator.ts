// AWS's own emulator of the Lambda runtime, from the wheel of aws-sam-cli: one program of 8 MB that needs no
// installation.
import { wheelFile } from './python-tools.ts';

/** Returns its path, and downloads it first if this machine does not have it. */
export function runtimeEmulator(): Promise<string> {
  return wheelFile({
    requirement: 'aws-sam-cli==1.170.0 --hash=sha256:24ebaf5ecba38dc1758089968cb89ab61e124b84e92a344fc7a2771a47f4d0bf',
    file: `samcli/local/rapid/aws-lambda-rie-${process.arch === 'arm64' ? 'arm64' : 'x86_64'}`,
  });
}
