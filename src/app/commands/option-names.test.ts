import { expect, it } from 'vitest';
import { ApiError } from '../../control/api/api-error.ts';
import { withOptionNames } from './option-names.ts';

const options = { cidrs: '--cidr', rate: '--rate', url: '--url', name: 'NAME' };

const refusal = (message: string, ...fields: string[]) =>
  new ApiError(422, 'INVALID_FIELDS', message, {
    fields: Object.fromEntries(fields.map((field) => [field, 'x'])),
  });

it.each([
  [
    'The body is invalid: cidrs.0: must be a range; rate.burst: Too small',
    '--cidr: must be a range; --rate: Too small',
  ],
  ['cidrs is empty. Name at least one.', '--cidr is empty. Name at least one.'],
  ['url: "ftp://h" is not an http(s) URL', '--url: "ftp://h" is not an http(s) URL'],
  ['There is a node x already. Choose another name.', 'There is a node x already. Choose another name.'],
  ['other: is wrong', 'other: is wrong'],
])('rewrites %j to %j', (message, expected) => {
  expect(withOptionNames(refusal(message, 'cidrs', 'url', 'rate', 'name'), options)).toMatchObject({
    message: expected,
    status: 422,
    code: 'INVALID_FIELDS',
  });
});

it('replaces routes by commands, and keeps other errors', () => {
  const missing = new ApiError(404, 'NOT_FOUND', 'There is no node x. GET /upstreams lists them.');
  expect(withOptionNames(missing, options)).toMatchObject({
    message: 'There is no node x. "solway upstream list" lists them.',
  });
  const stranger = 'There is no such customer. GET /me lists yours; operators find all with GET /customers.';
  expect(withOptionNames(new ApiError(404, 'NOT_FOUND', stranger), options)).toMatchObject({
    message: expect.stringMatching(
      /^There is no such customer\. The dashboard shows customer ids under Settings/,
    ),
  });
  const other = new Error('cidrs: x');
  expect(withOptionNames(other, options)).toBe(other);
});

it.each([
  ['It is on testnet. To add it anyway, force it.', 'It is on testnet. To add it anyway, add --force.'],
  [
    'x is the last node. Add another node first, or force it.',
    'x is the last node. Add another node first, or add --force.',
  ],
])('adds the option to %j', (message, expected) => {
  expect(withOptionNames(new ApiError(409, 'LAST_NODE', message), options)).toMatchObject({
    message: expected,
  });
});
