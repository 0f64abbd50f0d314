import {
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { RouteInput, RouteOutput } from '../../src/control/api/contract/contract.ts';
import { ApiProblem, type CallName, call } from './api.ts';
import { useRange } from './range.ts';

let onSignedOut: () => void = () => {};
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

const RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: (count, problem) => count < RETRIES && isTransient(problem),
      refetchOnWindowFocus: true,
    },
  },
});

/** Retries network and server errors only. */
const isTransient = (problem: unknown): boolean =>
  problem instanceof ApiProblem && (problem.status === 0 || problem.status >= 500);

async function fetchRoute<Name extends CallName>(
  name: Name,
  input: RouteInput<Name>,
): Promise<RouteOutput<Name>> {
  try {
    return await (call as (name: Name, input: RouteInput<Name>) => Promise<RouteOutput<Name>>)(name, input);
  } catch (thrown) {
    if (thrown instanceof ApiProblem && thrown.status === 401) onSignedOut();
    throw thrown;
  }
}

export type CallOptions = Readonly<{
  refetchMs?: number | false;
  enabled?: boolean;
  keepPrevious?: boolean;
  /** Whether failed requests are repeated before the error is shown. */
  retries?: boolean;
}>;

export function useCall<Name extends CallName>(
  name: Name,
  input: RouteInput<Name>,
  { refetchMs = false, enabled = true, keepPrevious = false, retries = true }: CallOptions = {},
): UseQueryResult<RouteOutput<Name>, Error> {
  return useQuery<RouteOutput<Name>, Error>({
    queryKey: [name, input],
    queryFn: () => fetchRoute(name, input),
    refetchInterval: refetchMs,
    enabled,
    ...(keepPrevious ? { placeholderData: (before) => before as never } : {}),
    ...(retries ? {} : { retry: false }),
  });
}

export type RangedName = {
  [Name in CallName]: RouteInput<Name> extends { query?: infer Query }
    ? 'from' extends keyof NonNullable<Query>
      ? Name
      : never
    : never;
}[CallName];

export function useRangedCall<Name extends RangedName>(
  name: Name,
  input: RouteInput<Name>,
  { enabled = true }: CallOptions = {},
): UseQueryResult<RouteOutput<Name>, Error> {
  const range = useRange();
  return useQuery<RouteOutput<Name>, Error>({
    queryKey: [name, input, range.id],
    queryFn: () => {
      const { query } = input as { query?: object };
      return fetchRoute(name, { ...input, query: { ...query, ...range.bounds() } } as RouteInput<Name>);
    },
    refetchInterval: range.refetchMs,
    enabled,
    // Keeps previous data while a new range loads.
    placeholderData: (before, query) =>
      isSameResource(query?.queryKey[1], input) ? (before as never) : undefined,
  });
}

const isSameResource = (one: unknown, other: unknown): boolean =>
  JSON.stringify((one as { path?: object } | undefined)?.path) ===
  JSON.stringify((other as { path?: object }).path);

export function useChange<Name extends CallName>(
  name: Name,
): UseMutationResult<RouteOutput<Name>, Error, RouteInput<Name>> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: RouteInput<Name>) => fetchRoute(name, input),
    onSuccess: () => client.invalidateQueries(),
  });
}
