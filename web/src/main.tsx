import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient, whenSignedOut } from './queries.ts';
import { router } from './routes.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/ui.css';
import './styles/shell.css';

// Session expired: refetch /me, which redirects to sign-in.
whenSignedOut(() => void queryClient.invalidateQueries({ queryKey: ['GET /me'] }));

const element = document.getElementById('root');
if (element === null) throw new Error('dashboard.html has no element #root');
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
