import { Link } from '@tanstack/react-router';
import type { ProblemJson } from '../../../src/control/api/contract/health.ts';
import { ApiProblem } from '../api.ts';
import { useCall } from '../queries.ts';
import { Time } from '../ui/time.tsx';
import type { NavItem } from './navigation.ts';
import { useSession } from './session.tsx';

const REFETCH_MS = 2_000;
/** Customers see only spent quotas. */
const CUSTOMER_REFETCH_MS = 60_000;
const SHOWN_MAX = 3;

/** Lists current problems on every page: all of them for operators, their own for customers. */
export function ProblemBanner() {
  const { user, customer } = useSession();
  const options = { refetchMs: user.isOperator ? REFETCH_MS : CUSTOMER_REFETCH_MS, retries: false };
  const ofService = useCall('GET /problems', {}, { ...options, enabled: user.isOperator });
  const ofCustomer = useCall(
    'GET /customers/{customer}/problems',
    { path: { customer: customer.id } },
    { ...options, enabled: !user.isOperator },
  );
  const { data, error } = user.isOperator ? ofService : ofCustomer;
  const outage = outageText(error);
  const problems = data?.problems ?? [];
  if (outage === null && problems.length === 0) return null;
  const hasError = outage !== null || problems.some(({ severity }) => severity === 'error');
  return (
    <section className={hasError ? 'banner banner-error' : 'banner'} aria-label="Problems">
      {/* Announces only changes of the number: the sentences contain figures that change all the time. */}
      <p className="visually-hidden" role="status">
        {outage ?? (problems.length === 1 ? 'There is a problem.' : `There are ${problems.length} problems.`)}
      </p>
      {outage === null ? <ProblemList problems={problems} gateways={data?.gateways ?? 0} /> : <p>{outage}</p>}
    </section>
  );
}

function ProblemList({ problems, gateways }: { problems: readonly ProblemJson[]; gateways: number }) {
  return (
    <>
      <ul className="problems">
        {problems.slice(0, SHOWN_MAX).map((problem) => (
          <li key={`${problem.code} ${problem.network} ${problem.node} ${problem.customer?.id}`}>
            <Sentence problem={problem} gateways={gateways} />
          </li>
        ))}
      </ul>
      {problems.length > SHOWN_MAX ? <p>And {problems.length - SHOWN_MAX} more.</p> : null}
    </>
  );
}

/** The control API cannot list problems while it or its database is unavailable. */
function outageText(error: unknown): string | null {
  if (!(error instanceof ApiProblem)) return null;
  if (error.status === 0) return 'The service does not respond. This page shows its last known state.';
  if (error.code !== 'STORE_AWAY') return null;
  return 'The database is unreachable. Known API keys still work; this page shows its last known state.';
}

function Sentence({ problem, gateways }: { problem: ProblemJson; gateways: number }) {
  const { text, since, page } = problem;
  const [path = '/', query = ''] = page.split('?');
  const isPartial = problem.gateways.length > 0 && problem.gateways.length < gateways;
  return (
    <>
      {text}
      {isPartial ? ` Seen by ${problem.gateways.join(', ')}.` : ''} Since <Time at={since} /> UTC.{' '}
      <Link to={path as NavItem['to']} search={Object.fromEntries(new URLSearchParams(query)) as never}>
        Details
      </Link>
    </>
  );
}
