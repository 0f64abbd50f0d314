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
    'the body is not as it must be: cidrs.0: an address or a range; rate.burst: Too small',
    '--cidr: an address or a range; --rate: Too small',
  ],
  ['cidrs is empty: name at least one', '--cidr is empty: name at least one'],
  ['url: "ftp://h" is not an http(s) URL', '--url: "ftp://h" is not an http(s) URL'],
  ['there is a node x already: give another name', 'there is a node x already: give another name'],
  ['other: is wrong', 'other: is wrong'],
])('a refusal of %j is told as %j', (said, told) => {
  expect(withOptionNames(refusal(said, 'cidrs', 'url', 'rate', 'name'), options)).toMatchObject({
    message: told,
    status: 422,
    code: 'INVALID_FIELDS',
  });
});

it('leads to the command in place of the route, and leaves other errors as they are', () => {
  const missing = new ApiError(404, 'NOT_FOUND', 'there is no node x: GET /upstreams names them');
  expect(withOptionNames(missing, options)).toMatchObject({
    message: 'there is no node x: solway upstream list names them',
  });
  const stranger =
    'there is no such customer: GET /me lists yours, GET /customers all of them for an operator';
  expect(withOptionNames(new ApiError(404, 'NOT_FOUND', stranger), options)).toMatchObject({
    message: expect.stringMatching(/^there is no such customer: ids stand in the dashboard under Settings/),
  });
  const other = new Error('cidrs: x');
  expect(withOptionNames(other, options)).toBe(other);
});

it.each([
  [
    'It is on testnet. To take it all the same, force it.',
    'It is on testnet. To take it all the same, add --force.',
  ],
  [
    'x is the last node: add another first, or force it',
    'x is the last node: add another first, or add --force',
  ],
])('names the option where the control API says %j', (said, told) => {
  expect(withOptionNames(new ApiError(409, 'LAST_NODE', said), options)).toMatchObject({ message: told });
});
