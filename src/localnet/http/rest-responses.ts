/** An HTTP answer outside JSON-RPC: refusals of the transport itself. Texts of jsonrpc-http-server 18 `response.rs`. */
export type PlainAnswer = Readonly<{ status: number; text: string }>;

export const METHOD_NOT_ALLOWED: PlainAnswer = {
  status: 405,
  text: 'Used HTTP Method is not allowed. POST or OPTIONS is required\n',
};

export const UNSUPPORTED_CONTENT_TYPE: PlainAnswer = {
  status: 415,
  text: 'Supplied content type is not allowed. Content-Type: application/json is required\n',
};

export const ORIGIN_REFUSED: PlainAnswer = {
  status: 403,
  text: 'Origin of the request is not whitelisted. CORS headers would not be sent and any side-effects were cancelled as well.\n',
};

export const BODY_TOO_LARGE: PlainAnswer = {
  status: 413,
  text: 'request body size exceeds allowed maximum',
};

/** The bytes of the longest prefix that is UTF-8. */
function validPrefixBytes(body: Uint8Array): number {
  let valid = 0;
  for (let low = 0, high = body.length; low <= high; ) {
    const middle = (low + high) >>> 1;
    try {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      valid = Buffer.byteLength(decoder.decode(body.subarray(0, middle), { stream: true }));
      low = middle + 1;
    } catch {
      high = middle - 1;
    }
  }
  return valid;
}

/** The refusal of a body that is not UTF-8; it says where the fault is. */
export const bodyNotUtf8 = (body: Uint8Array): PlainAnswer => ({
  status: 400,
  text: `utf-8 encoding error at byte ${validPrefixBytes(body)} in request body`,
});
