/** A call that goes out and comes back. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 32 32" aria-hidden className={className}>
      <rect width="32" height="32" rx="9" fill="#3457d5" />
      <path d="M14 11h5a5 5 0 0 1 0 10h-6" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
      <path d="m16.5 17.2-4 3.8 4 3.8" fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" strokeLinejoin="round" />
      <circle cx="9.2" cy="11" r="2.3" fill="#ffc45e" />
    </svg>
  );
}
