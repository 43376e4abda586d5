-- name: customer(email:) :optional :indexed
SELECT CustomerID, UserUUID, Email, DisplayName, Birthday, IsVIP, Balance, ReferredBy, CreatedAt, DeletedAt FROM Customers WHERE Email = :email;
-- name: customer(uuid:) :optional
SELECT * FROM Customers WHERE UserUUID = :uuid;
-- name: liveCustomers(after cursor:limit:) :many
SELECT CustomerID, Email, coalesce(DisplayName, substr(Email, 1, instr(Email, '@') - 1)) AS name FROM Customers
WHERE DeletedAt IS NULL AND (:cursor IS NULL OR CustomerID > :cursor) ORDER BY CustomerID LIMIT :limit;
-- name: softDelete(id:at:) :count
UPDATE Customers SET DeletedAt = :at WHERE CustomerID = :id AND DeletedAt IS NULL;
-- name: register(uuid:email:name:) :one
INSERT INTO Customers (UserUUID, Email, DisplayName) VALUES (:uuid, :email, :name)
ON CONFLICT (Email) DO UPDATE SET DisplayName = excluded.DisplayName, DeletedAt = NULL WHERE DeletedAt IS NOT NULL OR DisplayName IS NOT excluded.DisplayName
RETURNING *;
-- name: addBalance(id:amount:) :one
UPDATE Customers SET Balance = Balance + :amount WHERE CustomerID = :id RETURNING Balance;
-- name: orders(customer:states:) :many
SELECT OrderID, State, PlacedAt, Note FROM Orders WHERE CustomerID = :customer AND State IN (:states) ORDER BY PlacedAt DESC;
-- name: order(id:) :one
SELECT o.*, c.Email, b.Email AS billedEmail, t.TotalCents, t.Lines
FROM Orders o JOIN Customers c USING (CustomerID) LEFT JOIN Customers b ON b.CustomerID = o.BilledTo
JOIN OrderTotals t ON t.OrderID = o.OrderID WHERE o.OrderID = :id;
-- name: place(customer:at:note:) :rowid
INSERT INTO Orders (CustomerID, PlacedAt, Note) VALUES (:customer, :at, :note);
-- name: addLine(order:sku:quantity:) :one
INSERT INTO OrderLines (OrderID, Position, SKU, Quantity, UnitCents)
SELECT :order, (SELECT ifnull(max(Position), 0) + 1 FROM OrderLines WHERE OrderID = :order), p.SKU, :quantity,
  (SELECT Cents FROM Prices WHERE SKU = p.SKU AND Currency = 'EUR' ORDER BY ValidFrom DESC LIMIT 1)
FROM Products p WHERE p.SKU = :sku
RETURNING Position, LineCents;
-- name: lines(order:) :many
SELECT l.Position, l.SKU, p.Title, l.Quantity, l.UnitCents, l.LineCents FROM OrderLines AS l NATURAL JOIN Products AS p WHERE l.OrderID = :order;
-- name: setState(id:state:) :exec
UPDATE Orders SET State = :state WHERE OrderID = :id;
-- name: states :many
SELECT State, count(*) AS orders, min(PlacedAt) AS first, max(PlacedAt) AS last FROM Orders GROUP BY State ORDER BY 2 DESC;
-- name: revenue(since:) :many
SELECT strftime('%Y-%m', PlacedAt) AS month, sum(TotalCents) AS cents, sum(sum(TotalCents)) OVER (ORDER BY strftime('%Y-%m', PlacedAt)) AS soFar,
  count(*) AS orders FROM OrderTotals WHERE PlacedAt >= :since AND State <> 'void' GROUP BY month;
-- name: latestOrders :many
SELECT c.CustomerID, c.Email, o.OrderID, o.PlacedAt FROM Customers c LEFT JOIN (
  SELECT OrderID, CustomerID, PlacedAt, row_number() OVER (PARTITION BY CustomerID ORDER BY PlacedAt DESC) AS n FROM Orders
) o ON o.CustomerID = c.CustomerID AND o.n = 1;
-- name: customersWithoutOrders :many
SELECT Email FROM Customers WHERE CustomerID NOT IN (SELECT CustomerID FROM Orders);
-- name: spenders(minimum:) :many
SELECT c.Email, sum(t.TotalCents) AS cents, avg(t.TotalCents) AS average FROM Customers c JOIN OrderTotals t USING (CustomerID)
GROUP BY c.CustomerID HAVING sum(t.TotalCents) >= :minimum ORDER BY cents DESC;
-- name: referrals(of id:) :many
WITH RECURSIVE below(id, depth) AS (VALUES (:id, 0) UNION SELECT c.CustomerID, below.depth + 1 FROM Customers c, below WHERE c.ReferredBy = below.id)
SELECT c.CustomerID, c.Email, below.depth FROM below JOIN Customers c ON c.CustomerID = below.id WHERE below.depth > 0;
-- name: mergeOrders(from:into:) :count
UPDATE Orders SET CustomerID = :into WHERE CustomerID = :from;
-- name: purge(before:) :count
DELETE FROM Orders WHERE State = 'void' AND PlacedAt < :before;
