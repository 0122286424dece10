package sql_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	axsql "axflow/sql"
)

// A database that an older binary has filled for days gets the partitions of tables that came later, for the days that
// are there as well as for those to come.
func TestTablesOfLaterMigrationsGetTheDaysThatAreThere(t *testing.T) {
	conn, url := empty(t)
	ctx := context.Background()
	if err := axsql.MigrateTo(ctx, url, 2); err != nil {
		t.Fatal(err)
	}
	do := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	today := axsql.Day(time.Now())
	var days []time.Time
	for d := -5; d <= axsql.DefaultAhead; d++ {
		days = append(days, today.AddDate(0, 0, d))
	}
	for _, day := range days {
		for _, table := range []string{"run", "stage", "shard_input", "result", "journal"} { // those of version 2
			do(fmt.Sprintf("CREATE TABLE ax.%s_%s PARTITION OF ax.%s FOR VALUES FROM ('%s') TO ('%s')", table, day.Format("20060102"), table,
				axsql.DayBound(day), axsql.DayBound(day.AddDate(0, 0, 1))))
		}
		do("INSERT INTO ax.partition (day) VALUES ($1)", day)
	}
	gone := today.AddDate(0, 0, -9) // retention was interrupted: nothing is made for it any more
	do("INSERT INTO ax.partition (day, dropping) VALUES ($1, true)", gone)
	// One that was made and not attached, by a process that died between.
	do(fmt.Sprintf("ALTER TABLE ax.journal DETACH PARTITION ax.journal_%s", days[2].Format("20060102")))

	for range 2 { // the second time changes nothing
		if err := axsql.Migrate(ctx, url); err != nil {
			t.Fatal(err)
		}
	}
	for _, day := range days {
		id := axsql.DayBound(day.Add(time.Hour))
		do(`INSERT INTO ax.log (run_id, id, execution_id, worker_id, at, shard, seq, dropped, ord, generation, attempt, delivery, level, message)
			VALUES ($1, $1, $1, $1, now(), 0, 1, 0, 0, 1, 1, 1, 0, 'hello')`, id)
		do(`INSERT INTO ax.journal (run_id, id, kind, actor) VALUES ($1, $1, 'test', 'test')`, id)
	}
	var there bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('ax.log_"+gone.Format("20060102")+"') IS NOT NULL").Scan(&there); err != nil || there {
		t.Errorf("a day that is being dropped has got a partition: %v, %v", there, err)
	}
}
