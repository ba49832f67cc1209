// A fake of the two requests of IAM and STS that name identities (GetRole, GetCallerIdentity), with the answers of
// their API references.
import { text } from 'node:stream/consumers';
import { startHttpServer } from '../../support/listen.ts';

export type FakeIdentity = {
  readonly url: string;
  /** The ids of the account's roles by ARN. */
  readonly roles: Map<string, string>;
  /** The status of every response, instead of the real one. */
  fails: number | undefined;
  close(): Promise<void>;
};

/** Starts it on a free port. The caller is a session of the role `watcher`. */
export async function startFakeIdentity(): Promise<FakeIdentity> {
  const { url, close } = await startHttpServer(async (request, response) => {
    const query = new URLSearchParams(await text(request));
    const service = query.get('Action') === 'GetRole' ? 'iam' : 'sts';
    const isSigned = request.headers.authorization?.includes(`/us-east-1/${service}/aws4_request`) === true;
    const end = (status: number, body: string) => void response.writeHead(status).end(body);
    const error = (status: number, code: string) =>
      end(status, `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code></Error></ErrorResponse>`);
    if (fake.fails !== undefined || !isSigned) return error(fake.fails ?? 400, 'AccessDenied');
    if (service === 'sts') {
      const arn = 'arn:aws:sts::123456789012:assumed-role/watcher/chosen-by-the-sender';
      const result = `<Arn>${arn}</Arn><UserId>AROAWATCHER000000000:chosen-by-the-sender</UserId>`;
      return end(200, `<GetCallerIdentityResult>${result}</GetCallerIdentityResult>`);
    }
    const [arn, id] = [...fake.roles].find(([one]) => one.endsWith(`/${query.get('RoleName')}`)) ?? [];
    if (id === undefined) return error(404, 'NoSuchEntity');
    end(200, `<GetRoleResult><Role><Path>/</Path><Arn>${arn}</Arn><RoleId>${id}</RoleId></Role></GetRoleResult>`);
  });
  const fake: FakeIdentity = { url, roles: new Map(), fails: undefined, close };
  return fake;
}
