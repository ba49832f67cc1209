// A replacement for node:http that loads less. An ES module of Node exports everything by name, and reads every
// property of its CommonJS module for that. In node:http this includes WebSocket, which loads undici and takes a
// quarter of a function's start-up time. The bundler replaces node:http with this module. Code that needs a WebSocket
// can use the global one.
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
