// What a local server does with a request before its own code: any program can send it any request line. None ends the
// process, in which all objects and queues of one machine are.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Responds to a request, whose URL has no host. */
export type Responder = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;

/** Parses the target of a request line. Undefined for one that is no URL, such as `//`. */
export function requestUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): URL | undefined {
  return URL.parse(url, 'http://server') ?? undefined;
}

/**
 * Returns the listener of a server: a request line that is no URL gets a 400, and an error of the responder a 500, or
 * the end of the connection if the response has begun.
 */
export function answering(respond: Responder): RequestListener {
  return (request, response) => {
    const url = requestUrl(request);
    if (url === undefined) {
      response.writeHead(400, { 'content-type': 'text/plain' }).end('the path of the request is no URL\n');
      return;
    }
    const responded = async () => await respond(request, response, url);
    responded().catch(() => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  };
}
