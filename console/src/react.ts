// The largest library, in a file of its own: boot.ts runs it before the rest, as a task of its own.
import 'react-dom/client'
