/** Boundary values for readers of JSON. */
const ODD: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '1', '-1', '1.5', '1e3', '1e400', '4294967296'],
  ...['9007199254740993', '18446744073709551615', '18446744073709551616', '-9223372036854775809'],
  ...['""', '"0"', '"null"', '"\\u0000"', '"\\ud800"', '"11111111111111111111111111111111"'],
  ...['[]', '{}', '[[]]', '[null]', '{"__proto__":null}', '{"length":-1}', '{"toString":1}'],
];

/** The approximate ranges of strings, scalars and bracketed values of a text. */
function valuesIn(text: string): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  const open: number[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"|[[{]|[\]}]|[-\w.+]+/g;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '[' || token === '{') open.push(index);
    else if (token === ']' || token === '}') found.push([open.pop() ?? 0, index + 1]);
    else found.push([index, index + token.length]);
  }
  return found;
}

const oneOf = <Item>(items: readonly Item[], random: () => number): Item =>
  items[random() % items.length] as Item;

/** The text with one value removed, doubled or replaced by another. */
function mutateText(text: string, random: () => number): string {
  const values = valuesIn(text);
  if (values.length === 0) return oneOf(ODD, random);
  const [from, to] = oneOf(values, random);
  const [otherFrom, otherTo] = oneOf(values, random);
  const value = text.slice(from, to);
  const replacements = [
    oneOf(ODD, random),
    oneOf(ODD, random),
    text.slice(otherFrom, otherTo),
    `${value},${value}`,
    `[${value}]`,
    '',
  ];
  return text.slice(0, from) + oneOf(replacements, random) + text.slice(to);
}

export const looksLikeJson = (bytes: Uint8Array): boolean => bytes[0] === 0x7b || bytes[0] === 0x5b;

export function mutateJson(bytes: Uint8Array, random: () => number): Uint8Array {
  let text = Buffer.from(bytes).toString();
  for (let rounds = 1 + (random() % 3); rounds > 0; rounds--) text = mutateText(text, random);
  return Buffer.from(text);
}
