import pino, { type Logger } from 'pino'

interface LoggedError {
  name?: string
  message?: string
  stack?: string
  code?: string
  constraint_name?: string
  table_name?: string
  routine?: string
}

/** Of a database error only the place is logged: its words can repeat a row, such as a telephone number. */
export function openLog(level: string): Logger {
  const options = { level, serializers: { err: showError } }
  return pino(options, pino.destination({ dest: 2, sync: false, minLength: 0 }))
}

function showError(error: LoggedError): LoggedError & { message: string } {
  const { name = 'Error', code, constraint_name, table_name, routine } = error
  const isStatement = name === 'PostgresError'
  const stack = isStatement ? error.stack?.slice(error.stack.indexOf('\n')) : error.stack
  return {
    name,
    message: isStatement ? 'database statement failed' : (error.message ?? ''),
    ...(stack === undefined ? {} : { stack }),
    ...(code === undefined ? {} : { code }),
    ...(constraint_name === undefined ? {} : { constraint_name }),
    ...(table_name === undefined ? {} : { table_name }),
    ...(routine === undefined ? {} : { routine }),
  }
}
