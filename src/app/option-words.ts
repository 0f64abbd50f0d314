import { ApiError } from '../control/api/api-error.ts';

/** What fields of the control API are called on a command line: `cidrs` is `--cidr`. */
export type OptionNames = Readonly<Record<string, string>>;

/** What the control API says first of a question that is not as it must be. */
const PREAMBLE = /^the (?:body|query) is not as it must be: /;
const FIELD = /^([A-Za-z_]+)((?:\.[^\s:]+|\[\d+\])*)(?=[:\s])/;
/** Where the control API names a route of its own. */
const LIST_OF_NODES = 'GET /upstreams names';

function inOption(part: string, options: OptionNames): string {
  const [found = '', field = ''] = FIELD.exec(part) ?? [];
  const option = Object.hasOwn(options, field) ? options[field] : undefined;
  return option === undefined ? part : option + part.slice(found.length);
}

/** A refusal of the control API in the words of the command line that it answers; anything else as it is. */
export function inOptionWords(error: unknown, options: OptionNames): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, code, fields, message } = error;
  const plain = message.replace(LIST_OF_NODES, 'solway upstream list names');
  const parts = plain.replace(PREAMBLE, '').split('; ');
  const text = fields === undefined ? plain : parts.map((part) => inOption(part, options)).join('; ');
  return new ApiError(status, code, text, fields === undefined ? {} : { fields });
}
