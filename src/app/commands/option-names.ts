import { ApiError } from '../../control/api/api-error.ts';

/** Command-line option for each API field, such as `--cidr` for `cidrs`. */
type OptionNames = Readonly<Record<string, string>>;

/** Prefix of validation errors from the control API. */
const PREAMBLE = /^The (?:body|query) is invalid: /;
const FIELD = /^([A-Za-z_]+)((?:\.[^\s:]+|\[\d+\])*)(?=[:\s])/;
const replacements: readonly (readonly [of: RegExp, words: string])[] = [
  [/GET \/upstreams lists/, '"solway upstream list" lists'],
  [
    /GET \/me lists yours; operators find all with GET \/customers\.$/,
    'The dashboard shows customer ids under Settings, for operators under "Customers".',
  ],
  [/\bforce it(?=\.?$)/, 'add --force'],
];

function inOption(part: string, options: OptionNames): string {
  const [found = '', field = ''] = FIELD.exec(part) ?? [];
  const option = Object.hasOwn(options, field) ? options[field] : undefined;
  return option === undefined ? part : option + part.slice(found.length);
}

/** Rewrites an API error to name command-line options. Returns other errors unchanged. */
export function withOptionNames(error: unknown, options: OptionNames): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, code, fields, message } = error;
  const plain = replacements.reduce((result, [of, replacement]) => result.replace(of, replacement), message);
  const parts = plain.replace(PREAMBLE, '').split('; ');
  const text = fields === undefined ? plain : parts.map((part) => inOption(part, options)).join('; ');
  return new ApiError(status, code, text, fields === undefined ? {} : { fields });
}
