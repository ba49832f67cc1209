// node:http without what an import of it loads besides. An ES module of Node's hands out everything by name, and to do that asks its
// CommonJS for everything: http's WebSocket, too, which loads undici, a quarter of what a function needs to start. The bundler puts
// this module in the place of node:http; whoever wants a WebSocket has the global one.
const http = process.getBuiltinModule('node:http');

export default http;
export const {
  METHODS,
  STATUS_CODES,
  Agent,
  ClientRequest,
  IncomingMessage,
  OutgoingMessage,
  Server,
  ServerResponse,
  createServer,
  get,
  globalAgent,
  maxHeaderSize,
  request,
  setMaxIdleHTTPParsers,
  validateHeaderName,
  validateHeaderValue,
} = http;
